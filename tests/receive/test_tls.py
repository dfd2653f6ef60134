"""TLS and client certificates, on both transports."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc
import grpc.aio
import httpx
import pytest

from otel_eval.receive.listener import Listener, ReceiverError
from otel_eval.receive.otlp_answers import SERVICES
from otel_eval.receive.receivers import Receivers
from tests.certificates import self_signed
from tests.receive.kit import Start, Taking, span, traces

SOUND = traces(span())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key: server, client and CA in one."""
    return self_signed(tmp_path_factory.mktemp("tls"))


async def over_grpc(taking: Taking, pair: tuple[Path, Path], *, own: bool) -> bytes:
    """One export, with a certificate of the client's own or without."""
    mine = (pair[1].read_bytes(), pair[0].read_bytes()) if own else (None, None)
    credentials = grpc.ssl_channel_credentials(pair[0].read_bytes(), *mine)
    async with grpc.aio.secure_channel(taking.grpc, credentials) as channel:
        answer = await channel.unary_unary(f"/{SERVICES['traces']}/Export")(SOUND, timeout=10)
    assert isinstance(answer, bytes)
    return answer


async def over_http(taking: Taking, pair: tuple[Path, Path], *, own: bool) -> int:
    """The status of one export, with a certificate of the client's own or without."""
    context = ssl.create_default_context(cafile=str(pair[0]))
    if own:
        context.load_cert_chain(*pair)
    async with httpx.AsyncClient(verify=context) as client:
        headers = {"content-type": "application/x-protobuf"}
        return (await client.post(f"https://{taking.http}/v1/traces", content=SOUND, headers=headers)).status_code


async def test_both_transports_speak_tls(start: Start, pair: tuple[Path, Path]) -> None:
    """A client that trusts the certificate is served; one that speaks plainly is not."""
    taking = await start(certificate=pair[0], key=pair[1])
    assert await over_grpc(taking, pair, own=False) == b""
    assert await over_http(taking, pair, own=False) == 200
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.HTTPError):
            await client.get(f"http://{taking.http}/healthz")


async def test_a_client_ca_asks_for_certificates(start: Start, pair: tuple[Path, Path]) -> None:
    """Clients without one are turned away on both transports."""
    taking = await start(certificate=pair[0], key=pair[1], client_ca=pair[0])
    assert await over_grpc(taking, pair, own=True) == b""
    assert await over_http(taking, pair, own=True) == 200
    with pytest.raises(grpc.aio.AioRpcError):
        await over_grpc(taking, pair, own=False)
    with pytest.raises(httpx.HTTPError):
        await over_http(taking, pair, own=False)
    assert len(await taking.entries()) == 2


@pytest.mark.parametrize("transport", ["grpc", "http"])
@pytest.mark.parametrize("content", [None, b"not a certificate"])
async def test_certificates_that_cannot_be_used_stop_the_start(
    tmp_path: Path, start: Start, transport: str, content: bytes | None
) -> None:
    """A missing file or one that is no PEM: an error of ours that names the listener."""
    path = tmp_path / "cert.pem"
    if content is not None:
        path.write_bytes(content)
    listener = Listener(endpoint="127.0.0.1:0", certificate=path, key=path)
    with pytest.raises(ReceiverError, match=r"127\.0\.0\.1:0"):
        await Receivers(None, **{transport: listener}).start()  # type: ignore[arg-type]  # never asked
