"""Which roles an Interaction's agent has."""

from __future__ import annotations

from collections.abc import Mapping

from otel_eval.config.bindings import Role
from otel_eval.dispatch.globs import Globs
from otel_eval.interaction import Interaction, JsonValue


class Roles:
    """The roles of the configuration, in the file's order."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._roles = {name: _Role(role) for name, role in roles.items()}

    def of(self, interaction: Interaction) -> tuple[str, ...]:
        """Every role that the Interaction has; the first is the one that it is recorded with."""
        return tuple(name for name, role in self._roles.items() if role.match(interaction))


class _Role:
    def __init__(self, role: Role) -> None:
        self._agents = Globs(role.agents)
        self._attributes = {name: Globs((value,)) for name, value in role.attributes.items()}

    def match(self, interaction: Interaction) -> bool:
        if interaction.agent is not None and self._agents.match(interaction.agent):
            return True
        return bool(self._attributes) and all(
            values.match(_text(interaction, name)) for name, values in self._attributes.items()
        )


def _text(interaction: Interaction, name: str) -> str | None:
    """The attribute of the agent span, else of its resource, as text. ``true`` and ``false`` are written so."""
    value: JsonValue = interaction.attributes.get(name, interaction.resource.get(name))
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None or isinstance(value, list | dict) else str(value)
