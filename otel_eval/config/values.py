"""The kinds of values that the configuration is made of, each with the words for what is allowed.

A value that came from an environment variable is text, so booleans are also read from text. Nothing is read as something
else beyond that: ``true`` is not 1. Numbers and durations are in ``numbers.py``.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError


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
    if isinstance(value, str) and (_is_http_url(value) if "://" in value else (split_address(value) or ("", 0))[1]):
        return value
    raise refuse("where to send, as http://collector:4317, https://… or host:port")


def _http_url(value: Any) -> str:
    if isinstance(value, str) and _is_http_url(value):
        return value
    raise refuse("a URL, as https://gateway.example/v1 or http://127.0.0.1:11434")


_LONGEST_HOST = 253
"""Source: RFC 1035, 2.3.4."""


def _is_http_url(value: str) -> bool:
    try:
        url = urlsplit(value)
        sound = re.search(r"\s", value) is None and 0 < len(url.hostname or "") <= _LONGEST_HOST
        return sound and url.scheme in ("http", "https") and (url.port is None or url.port > 0)
    except ValueError:
        return False


def _regex(value: Any) -> str:
    text = _text(value)
    try:
        expression = re.compile(text)
    except re.error as error:
        raise refuse(f"a regular expression ({error})") from None
    if expression.search("") is not None:
        raise refuse("a regular expression that does not match nothing at all: its marker would stand everywhere")
    return text


def _marker_name(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,40}", value):
        return value
    raise refuse("a name of lower-case letters, digits and underscores")


def split_address(address: str) -> tuple[str, int] | None:
    """Host and port of ``host:port`` or ``[::1]:port``; None where it is not that."""
    match = re.fullmatch(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:/\[\]]+)):(?P<port>\d{1,5})", address)
    if match is None or int(match["port"]) > 65535 or len(match["host"] or "") > _LONGEST_HOST:
        return None
    if match["six"] is not None and not _is_address(match["six"].partition("%")[0]):
        return None
    return match["six"] or match["host"], int(match["port"])


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


Flag = Annotated[bool, BeforeValidator(_flag, json_schema_input_type=bool)]
Text = Annotated[str, BeforeValidator(_text, json_schema_input_type=Annotated[str, Field(min_length=1)])]
ListenAddress = Annotated[str, BeforeValidator(_listen_address, json_schema_input_type=str)]
Endpoint = Annotated[str, BeforeValidator(_endpoint, json_schema_input_type=str)]
HttpUrl = Annotated[str, BeforeValidator(_http_url, json_schema_input_type=str)]
Regex = Annotated[
    str, BeforeValidator(_regex, json_schema_input_type=Annotated[str, Field(json_schema_extra={"format": "regex"})])
]

MarkerName = Annotated[str, BeforeValidator(_marker_name, json_schema_input_type=str)]


def _secret_text(value: Any) -> Any:
    return value if isinstance(value, SecretStr) else _text(value)


SecretText = Annotated[SecretStr, BeforeValidator(_secret_text, json_schema_input_type=str)]
"""As :data:`Secret`, on any number of lines: the content of a file."""


def _secret(value: Any) -> Any:
    text = _secret_text(value)
    if isinstance(text, SecretStr):
        return text
    if any(char < " " or char == "\x7f" for char in text):
        raise refuse("text on one line (a line break at its end? it cannot stand in a header)")
    return text


Secret = Annotated[SecretStr, BeforeValidator(_secret, json_schema_input_type=str)]
"""Text that never shows in a log, a repr, an error or a dump; ``.get_secret_value()`` gives it."""


def _header_name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", value):
        raise refuse("the name of a header: letters, digits and dashes")
    if value.lower().endswith("-bin"):
        raise refuse("the name of a header whose value is text: one that ends with -bin is binary over gRPC")
    return value


HeaderName = Annotated[str, BeforeValidator(_header_name, json_schema_input_type=str)]
"""Source: RFC 9110, 5.6.2 (token); gRPC over HTTP/2, "Custom-Metadata"."""


def texts(value: Any) -> Any:
    """A list, also where one text was given."""
    return [value] if isinstance(value, str) else value


def _some(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise refuse("one text or more: an empty list matches nothing")
    return value


Texts = Annotated[tuple[Text, ...], BeforeValidator(texts, json_schema_input_type=str | list[str])]
"""One text, or a list of them."""
SomeTexts = Annotated[Texts, AfterValidator(_some)]
"""One text, or a list of one or more."""
