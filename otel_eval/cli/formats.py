"""In which form commands print records."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer


class Format(StrEnum):
    """How to print."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


FormatOption: TypeAlias = Annotated[Format, typer.Option("--format", help="How to print.")]
