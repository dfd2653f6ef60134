"""The whole configuration, as one frozen value. Every key has a default, so that an empty file is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, PrivateAttr

from otel_eval.config.api import Api
from otel_eval.config.bindings import EvaluatorEntry, Role
from otel_eval.config.document import Document
from otel_eval.config.errors import ConfigError, Mistake
from otel_eval.config.errors import Path as KeyPath
from otel_eval.config.judging import JudgeModel, Judges
from otel_eval.config.sections import (
    Completion,
    Dispatch,
    Emit,
    Exporters,
    Forward,
    Ledger,
    LoopGuard,
    Receivers,
    Redaction,
    Server,
    Storage,
)
from otel_eval.config.values import Section


class Config(Section):
    """What the file says. Made by :func:`otel_eval.config.load` and :func:`otel_eval.config.parse`."""

    receivers: Receivers = Receivers()
    exporters: Exporters = Exporters()
    forward: Forward = Forward()
    api: Api = Api()
    server: Server = Server()
    storage: Storage = Storage()
    ledger: Ledger = Ledger()
    loop_guard: LoopGuard = LoopGuard()
    completion: Completion = Completion()
    dispatch: Dispatch = Dispatch()
    emit: Emit = Emit()
    redaction: Redaction = Redaction()
    judges: Judges = Judges()
    judge_models: dict[str, JudgeModel] = Field(default_factory=dict)
    """Models that judges can ask, by a name of yours; `default` serves judges that name none."""
    roles: dict[str, Role] = Field(default_factory=dict)
    """Roles that bindings can name, by agents or by attributes; the first that matches is an Interaction's role."""
    evaluators: dict[str, EvaluatorEntry] = Field(default_factory=dict)
    """Evaluators by their id, which is their name in records and metrics."""

    _document: Document = PrivateAttr(default_factory=Document)
    _unresolved: Mapping[str, tuple[Mistake, ...]] = PrivateAttr(default_factory=dict)

    @property
    def ledger_url(self) -> str:
        """`ledger.url`, else the SQLite file in the storage directory. May hold a password: not for a log."""
        if self.ledger.url is not None:
            return self.ledger.url.get_secret_value()
        return f"sqlite:///{Path(self.storage.directory).expanduser() / 'ledger.db'}"

    @property
    def storage_directory(self) -> Path:
        """`storage.directory` as an absolute path."""
        return Path(self.storage.directory).expanduser().absolute()

    @property
    def role_attributes(self) -> frozenset[str]:
        """The names of the attributes that roles are matched by: what of an agent span's attributes must be kept."""
        return frozenset(name for role in self.roles.values() for name in role.attributes)

    def mistake(self, path: KeyPath, message: str) -> Mistake:
        """A mistake that shows only when something is made of the configuration; with its line, as the others."""
        return self._document.mistake(path, message)

    def judge_model(self, name: str) -> JudgeModel | None:
        """The entry of that name, or None where there is none (then the name is a litellm model's).

        Raises ConfigError for an entry that no evaluator uses and whose environment variables were not set at the start.
        """
        if name in self._unresolved:
            raise ConfigError(self._unresolved[name])
        return self.judge_models.get(name)
