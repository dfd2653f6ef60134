"""Endpoints that we would export to: whether one is a listener of ours (verdicts would go in circles), and how one
is shown."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def same_listener(endpoint: str, listeners: Iterable[str]) -> bool:
    """Whether one of ``listeners`` (``host:port``, with or without a scheme) answers at ``endpoint``.

    ``localhost``, ``127.0.0.1`` and ``::1`` are this machine, a listener at ``0.0.0.0`` or ``[::]`` has all its
    addresses, and this machine's own name is resolved. A listener at port 0 gets its port later: ask again then. An
    endpoint without a port has that of its scheme, else 4317.
    """
    host, port = split(endpoint)
    return any(_answers(split(listener), host, port) for listener in listeners)


def shown(endpoint: str) -> str:
    """The endpoint as it may be printed: without the user and the password that stand in some."""
    scheme, found, rest = endpoint.rpartition("://")
    authority, slash, path = rest.partition("/")
    login, at, host = authority.rpartition("@")
    return f"{scheme}{found}{'***' if login else ''}{at}{host}{slash}{path}"


def split(address: str) -> tuple[str, int]:
    """Host and port of ``http://host:port/path``, ``host:port``, ``[::1]:4317``, ``:4317`` or ``host``."""
    with_scheme = address if "://" in address else f"//{address}"
    try:
        parts = urlsplit(with_scheme)
    except ValueError:  # no address at all: whoever connects to it says so
        return address, 4317
    try:
        port = parts.port
    except ValueError:
        port = None
    if port is None:
        port = _DEFAULT_PORTS.get(parts.scheme, 4317)
    return (parts.hostname or "0.0.0.0", port)


def _answers(listener: tuple[str, int], host: str, port: int) -> bool:
    listens_at, listens_on = listener
    if listens_on == 0 or listens_on != port:
        return False
    ours, theirs = _addresses(listens_at), _addresses(host)
    if any(address.is_unspecified for address in ours):
        return any(_is_this_machine(address) for address in theirs)
    if any(address.is_unspecified for address in theirs):  # connecting to 0.0.0.0 reaches this machine's loopback
        return any(address.is_loopback for address in ours)
    return bool(ours & theirs) or listens_at == host


def _addresses(host: str) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """The host's addresses; none where it does not resolve (then it is not us)."""
    try:
        return {_plain(host)}
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # UnicodeError: longer than a name can be
        return set()
    return {_plain(str(entry[4][0])) for entry in found}


def _plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address without a zone; ``::ffff:127.0.0.1`` is 127.0.0.1 to whoever connects. Raises ValueError."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return parsed if mapped is None else mapped


def _is_this_machine(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """An address is ours if a socket can be bound to it."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
