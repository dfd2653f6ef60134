"""The recorded corpus: packing it, unpacking it, and putting it back together as ``otel-eval interactions`` does.

As a command it packs a folder of captures anew: ``python -m tests.corpus.recordings FOLDER``. The same files give the same
archive, byte for byte.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from otel_eval.cli.interactions import Format, write

ARCHIVE = Path(__file__).parent / "recordings.tar.xz"
SCENARIOS = "*/*/expected.json"


def unpack(into: Path) -> Path:
    """The folder of the corpus, unpacked below ``into``."""
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        archive.extractall(into, filter="data")  # "data": nothing outside the folder, no links, no modes
    return into / "corpus"


@cache
def names() -> tuple[str, ...]:
    """The names of all captures, without unpacking them."""
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        found = (Path(name).parent for name in archive.getnames() if name.endswith("/expected.json"))
        return tuple(sorted(name_of(folder) for folder in found))


def captures(corpus: Path) -> list[Path]:
    """The folders of all captures, ``<framework>--<instrumentation>/<scenario>``, in order."""
    return sorted(path.parent for path in corpus.glob(SCENARIOS))


def name_of(capture: Path) -> str:
    """``<framework>--<instrumentation>/<scenario>``."""
    return f"{capture.parent.name}/{capture.name}"


def truth_of(capture: Path) -> dict[str, Any]:
    """What the agent program wrote down itself."""
    truth: dict[str, Any] = json.loads((capture / "expected.json").read_text())
    return truth


def put_together(folders: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """What ``otel-eval interactions --format jsonl`` prints, by capture."""
    folders = list(folders)
    out = io.StringIO()
    write(folders, Format.JSONL, out)
    found: dict[str, list[dict[str, Any]]] = {name_of(folder): [] for folder in folders}
    for line in out.getvalue().splitlines():
        interaction = json.loads(line)
        found[name_of(Path(interaction["source"]))].append(interaction)
    return found


def pack(corpus: Path, archive: Path = ARCHIVE) -> None:
    """Write the archive: names in order, and no times, owners or modes of a machine."""
    with tarfile.open(archive, "w:xz", preset=9, format=tarfile.PAX_FORMAT) as packed:
        for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(f"corpus/{path.relative_to(corpus).as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as content:
                packed.addfile(entry, content)


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
