"""docs/metrics.md says which metrics there are."""

from __future__ import annotations

import re
from pathlib import Path

import otel_eval
from docs.generate_metrics import LABELS, PAGE, REASONS, page, prometheus_name
from otel_eval.instruments import INSTRUMENTS
from tests.deploy.test_dashboards import declared

PACKAGE = Path(otel_eval.__file__).parent
_LITERALS = re.compile(
    r"""odd\["(\w+)"\]|_drop\((?:"spans",\ |kind,\ )?"(\w+)"(?!\ if)|"otel_eval\.reason":\ "(\w+)"|_count\(signal,\ "(\w+)\"""",
    re.X,
)


def test_the_page_is_what_the_table_gives() -> None:
    """Run ``python -m docs.generate_metrics`` after a change of an instrument."""
    assert page(PAGE.read_text()) == PAGE.read_text()


def test_every_label_has_its_values_on_the_page() -> None:
    """No label without a bound, and none that no instrument has."""
    used = {label for instrument in INSTRUMENTS for label in instrument.labels}
    assert used == {*LABELS, "otel_eval.reason"}
    assert set(REASONS) == {each.name for each in INSTRUMENTS if "otel_eval.reason" in each.labels}


def test_the_names_in_prometheus_are_those_that_dashboards_use() -> None:
    """Both are the compatibility rules, written down twice."""
    parts = ("bucket", "sum", "count")
    names = {
        name
        for each in INSTRUMENTS
        for name in (
            [f"{prometheus_name(each)}_{part}" for part in parts]
            if each.kind == "histogram"
            else [prometheus_name(each)]
        )
    }
    assert names == set(declared())


def test_what_is_exported_from_the_start_is_every_value_on_the_page() -> None:
    """A value that the code counts by and the table lacks would be born with its first event, which nobody sees then."""
    for instrument in INSTRUMENTS:
        born = [*(instrument.known or ()), *([instrument.born_with] if instrument.born_with is not None else [])]
        for label, values in born:
            documented = REASONS[instrument.name] if label == "otel_eval.reason" else LABELS[label]
            if not isinstance(documented, str):
                assert set(values) == set(documented), (instrument.name, label)


def test_every_reason_in_the_code_is_on_the_page() -> None:
    """A reason that the intake, the pipeline or the exporters count by is one of the documented ones."""
    counted = {
        next(group for group in found.groups() if group)
        for files in ("receive/soundness*.py", "receive/intake.py", "pipeline/*.py", "emit/*.py")
        for path in PACKAGE.glob(files)
        for found in _LITERALS.finditer(path.read_text())
    }
    assert {"malformed", "late", "own", "unreadable", "refused", "partial_success"} <= counted
    assert counted <= {reason for reasons in REASONS.values() for reason in reasons}
