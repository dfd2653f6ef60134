"""What is wrong with the ``OTEL_EXPORTER_OTLP_*`` variables that decide where no exporter is configured.

The SDK's exporters read them when they are made: some of what they cannot read they log and leave out, at the rest they
break, and which depends on the protocol. Here each is a mistake, found before anything is started.
Source: OpenTelemetry specification, protocol/exporter.md.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from otel_eval.emit.settings import PREFIX, ExportSettingsError, Signal, SignalSettings, from_environment, signals_on

_FILES = ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE")
_COMPRESSIONS = {"grpc": ("gzip", "none"), "http/protobuf": ("gzip", "deflate", "none")}


def mistakes_of(environ: Mapping[str, str], *, files: bool = True) -> Iterator[str]:
    """Each mistake once, as ``<variable> <what it has to be>, not …``; what may hold a secret is not shown.
    ``files``: whether those that are named are looked for."""
    said = set()
    for signal in signals_on(environ):
        for mistake in _of(signal, environ, files):
            if mistake not in said:
                said.add(mistake)
                yield mistake


def _of(signal: Signal, environ: Mapping[str, str], files: bool) -> Iterator[str]:
    try:
        target = from_environment(signal, environ)
    except ExportSettingsError as error:
        yield str(error)
        return
    if target is None:
        return
    name, endpoint = _given(signal, "ENDPOINT", environ)
    if not _is_endpoint(endpoint):
        yield f"{name} is where to send, as http://collector:4317, which it does not say"
    name, timeout = _given(signal, "TIMEOUT", environ)
    if timeout and not _is_positive(timeout):
        yield f"{name} is a number of seconds, not {timeout!r}"
    name, compression = _given(signal, "COMPRESSION", environ)
    allowed = _COMPRESSIONS[target.protocol]
    if compression and compression.lower() not in allowed:
        yield f"{name} is {', '.join(allowed[:-1])} or {allowed[-1]} over {target.protocol}, not {compression!r}"
    if files and _is_secure(target, environ):
        for key in _FILES:
            name, path = _given(signal, key, environ)
            if path and (fault := unreadable(path)) is not None:
                yield f"{name}: the file {fault}"


def unreadable(path: str) -> str | None:
    """Why that file cannot be the PEM file that it should be; None where it can. Its path, as of an environment
    variable, is not shown."""
    try:
        with open(path, "rb") as file:
            found = b"-----BEGIN " in file.read(_MOST_OF_PEM)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return f"cannot be read: {reason}"
    return None if found else "is no PEM file: nothing in it begins with -----BEGIN"


_MOST_OF_PEM = 16 << 20


def unusable_pair(certificate: str, key: str) -> str | None:
    """Why TLS cannot be had with those two files, which are PEM; None where it can."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=_no_password)
    except _Encrypted:
        return "the key is encrypted, and there is nobody to ask for its password"
    except ssl.SSLError as error:
        belongs = "they do not belong together" if error.reason == "KEY_VALUES_MISMATCH" else error.reason or str(error)
        return f"the certificate and the key cannot be used: {belongs}"
    except OSError as error:
        return f"the certificate and the key cannot be used: {error.strerror}"
    return None


class _Encrypted(Exception):
    """OpenSSL asks for a password."""


def _no_password() -> str:
    raise _Encrypted


def _given(signal: Signal, key: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The variable that decides, the signal's own or the general one, and what it says; blank where none is given."""
    own, general = f"{PREFIX}{signal.upper()}_{key}", f"{PREFIX}{key}"
    name = own if environ.get(own, "").strip() else general
    return name, environ.get(name, "").strip()


def _is_endpoint(text: str) -> bool:
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def _is_positive(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def _is_secure(target: SignalSettings, environ: Mapping[str, str]) -> bool:
    """Whether the exporter reads the files, for a connection in TLS."""
    if "://" in target.endpoint or target.protocol != "grpc":
        return target.endpoint.lower().startswith("https://")
    return _given(target.signal, "INSECURE", environ)[1].lower() != "true"
