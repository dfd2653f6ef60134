"""TLS and client certificates, as the receivers have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_eval.api.client import ApiCallError, ApiClient, Tls
from otel_eval.server.errors import ServerError
from otel_eval.testing.server import running
from otel_eval.v1 import evaluations_pb2 as pb
from tests.api.kit import READ, config
from tests.certificates import self_signed

REQUEST = pb.ListInteractionsRequest()


async def code(api: ApiClient) -> str:
    async with api:
        try:
            await api.list_interactions(REQUEST)
        except ApiCallError as error:
            return error.code
        return ""


async def test_a_certificate_lets_in_whom_the_token_alone_does_not(tmp_path: Path) -> None:
    """Over TLS with a client's certificate; plain text and strangers get nowhere, and scopes hold all the same."""
    certificate, key = self_signed(tmp_path)
    settings = config()
    settings["api"]["tls"] = {"cert_file": str(certificate), "key_file": str(key), "client_ca_file": str(certificate)}
    ours = Tls(ca_file=certificate, cert_file=certificate, key_file=key)
    async with running(settings) as server:
        address = server.api_endpoint
        assert await code(ApiClient(address, token=READ, tls=ours)) == ""
        assert await code(ApiClient(address, tls=ours)) == "UNAUTHENTICATED"
        assert await code(ApiClient(address, token=READ, tls=Tls(ca_file=certificate))) == "UNAVAILABLE"
        assert await code(ApiClient(address, token=READ)) == "UNAVAILABLE"


async def test_a_certificate_alone_is_enough_where_that_is_said(tmp_path: Path) -> None:
    """Then whoever has one may do what without_token says, on any interface."""
    certificate, key = self_signed(tmp_path)
    settings = config()
    settings["api"] |= {
        "tls": {"cert_file": str(certificate), "key_file": str(key), "client_ca_file": str(certificate)},
        "auth": {"without_token": "read"},
    }
    ours = Tls(ca_file=certificate, cert_file=certificate, key_file=key)
    async with running(settings) as server:
        assert await code(ApiClient(server.api_endpoint, tls=ours)) == ""


async def test_a_listener_that_cannot_be_made_stops_the_start(tmp_path: Path) -> None:
    """With the file that is missing."""
    settings = config()
    settings["api"]["tls"] = {"cert_file": str(tmp_path / "none.pem"), "key_file": str(tmp_path / "none.key")}
    with pytest.raises(ServerError, match=r"^api: .*none"):
        async with running(settings):
            pass
