"""The kinds of values that the configuration is made of, each with the words for what is allowed.

A value that came from an environment variable is text, so numbers and booleans are also read from text. Nothing is
read as something else beyond that: ``true`` is not 1, 10 is not "10 %", 30 is no duration.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from otel_eval.durations import parse_duration


class Section(BaseModel):
    """A mapping of known keys. A key without a value (``grpc:``) counts as not given, and its default holds."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_is_empty(cls, data: Any) -> Any:
        if data is None:
            return {}
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if value is not None or key not in cls.model_fields}
        return data


def refuse(allowed: str) -> PydanticCustomError:
    """The error that is told as ``found …; allowed: <allowed>``."""
    return PydanticCustomError("allowed", "{allowed}", {"allowed": allowed})


def _number(value: Any) -> float | None:
    """The number that it is, or that its text says; None where it is none (a boolean, NaN, infinity, other text)."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _duration(value: Any) -> float:
    if not isinstance(value, str):
        raise refuse("a duration with its unit, as 250ms, 2s or 10m")
    try:
        return parse_duration(value)
    except ValueError:
        raise refuse("a duration with its unit, as 250ms, 2s or 10m") from None


def _ratio(value: Any) -> float:
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = _number(value.strip().removesuffix("%"))
        hint = "" if percent is None or not 0 <= percent <= 100 else f" (write {percent / 100:g})"
        raise refuse(f"a ratio from 0 to 1{hint}")
    number = _number(value)
    if number is None:
        raise refuse("a ratio from 0 to 1")
    if 1 < number <= 100:
        raise refuse(f"a ratio from 0 to 1 ({number:g} is not {number:g} %: write {number / 100:g})")
    if not 0 <= number <= 1:
        raise refuse("a ratio from 0 to 1")
    return float(number)


def _whole(minimum: int, odd: bool = False) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        number = _number(value)
        if number is None or number != int(number) or number < minimum or (odd and not int(number) % 2):
            raise refuse(f"{'an odd' if odd else 'a whole'} number, {minimum} or more")
        return int(number)

    return check


def _amount(value: Any) -> float:
    number = _number(value)
    if number is None or number < 0:
        raise refuse("a number, 0 or more")
    return float(number)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise refuse("true or false")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        quote = " (quote it, if it is meant as text)" if isinstance(value, bool | int | float) else ""
        raise refuse(f"text{quote}")
    if not value.strip():
        raise refuse("text that is not blank")
    return value


def _listen_address(value: Any) -> str:
    if isinstance(value, str) and split_address(value) is not None:
        return value
    raise refuse("host:port to listen on, as 127.0.0.1:4317 (0.0.0.0 for all interfaces, port 0 for any free one)")


def _endpoint(value: Any) -> str:
    if isinstance(value, str) and (("://" not in value and split_address(value)) or _is_http_url(value)):
        return value
    raise refuse("where to send, as http://collector:4317, https://… or host:port")


def _is_http_url(value: str) -> bool:
    try:
        url = urlsplit(value)
        return url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        return False


def _regex(value: Any) -> str:
    text = _text(value)
    try:
        re.compile(text)
    except re.error as error:
        raise refuse(f"a regular expression ({error})") from None
    return text


def _marker_name(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,40}", value):
        return value
    raise refuse("a name of lower-case letters, digits and underscores")


def split_address(address: str) -> tuple[str, int] | None:
    """Host and port of ``host:port`` or ``[::1]:port``; None where it is not that."""
    match = re.fullmatch(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:/\[\]]+)):(?P<port>\d{1,5})", address)
    if match is None or int(match["port"]) > 65535:
        return None
    return match["six"] or match["host"], int(match["port"])


DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))+$"
"""What a JSON schema says of a duration; also the mark by which its default is written as one."""

_DurationText = Annotated[str, Field(pattern=DURATION_PATTERN, examples=["250ms", "2s", "10m"])]
_RatioNumber = Annotated[float, Field(ge=0, le=1)]

Duration = Annotated[float, BeforeValidator(_duration, json_schema_input_type=_DurationText)]
"""Seconds; written with a unit."""
Ratio = Annotated[float, BeforeValidator(_ratio, json_schema_input_type=_RatioNumber)]
Count = Annotated[int, BeforeValidator(_whole(1), json_schema_input_type=Annotated[int, Field(ge=1)])]
CountOrNone = Annotated[int, BeforeValidator(_whole(0), json_schema_input_type=Annotated[int, Field(ge=0)])]
"""A whole number where 0 is one."""
Odd = Annotated[int, BeforeValidator(_whole(1, odd=True), json_schema_input_type=Annotated[int, Field(ge=1)])]
Amount = Annotated[float, BeforeValidator(_amount, json_schema_input_type=Annotated[float, Field(ge=0)])]
Flag = Annotated[bool, BeforeValidator(_flag, json_schema_input_type=bool)]
Text = Annotated[str, BeforeValidator(_text, json_schema_input_type=Annotated[str, Field(min_length=1)])]
ListenAddress = Annotated[str, BeforeValidator(_listen_address, json_schema_input_type=str)]
Endpoint = Annotated[str, BeforeValidator(_endpoint, json_schema_input_type=str)]
Regex = Annotated[
    str, BeforeValidator(_regex, json_schema_input_type=Annotated[str, Field(json_schema_extra={"format": "regex"})])
]

MarkerName = Annotated[str, BeforeValidator(_marker_name, json_schema_input_type=str)]


def _secret(value: Any) -> Any:
    return value if isinstance(value, SecretStr) else _text(value)


Secret = Annotated[SecretStr, BeforeValidator(_secret, json_schema_input_type=str)]
"""Text that never shows in a log, a repr, an error or a dump; ``.get_secret_value()`` gives it."""


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts, json_schema_input_type=str | list[str])]
"""One text, or a list of them."""
