"""The API of a server: as the configuration says, for as long as ledger and dispatcher are there."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from otel_eval.clock import Clock
from otel_eval.config.api import Api
from otel_eval.dispatch import Dispatcher
from otel_eval.instruments import Recorder
from otel_eval.ledger import AsyncLedger
from otel_eval.server.errors import ServerError


@contextlib.asynccontextmanager
async def serving_api(
    section: Api,
    *,
    ledger: AsyncLedger,
    dispatcher: Dispatcher,
    clock: Clock,
    recorder: Recorder,
    endpoint: str | None = None,
) -> AsyncIterator[str | None]:
    """Take calls for the block; the address, None where it is switched off. Raises ServerError where it cannot listen.

    ``endpoint`` is the address of an earlier life, which callers know by now: it stands for the configured one.
    """
    if not section.enabled:
        yield None
        return
    # Only where somebody asks for it: a second of imports, and its memory.
    from otel_eval.api.access import Access, Scope, Token
    from otel_eval.api.server import ApiServer, ApiSettings
    from otel_eval.api.service import Service
    from otel_eval.receive.listener import ReceiverError
    from otel_eval.server.listening import tls_listener

    auth = section.auth
    tokens = {
        name: Token(secret=each.token.get_secret_value(), scopes=frozenset(Scope(scope) for scope in each.scopes))
        for name, each in auth.tokens.items()
    }
    access = Access(tokens, anonymous=[Scope(scope) for scope in auth.without_token])
    async with Service(
        ledger=ledger, judging=dispatcher, clock=clock, most_watchers=section.max_concurrent_calls // 2
    ) as service:
        try:
            settings = ApiSettings(
                listener=tls_listener(endpoint or section.endpoint, section.tls, section.max_message_bytes),
                access=access,
                most_calls=section.max_concurrent_calls,
            )
            server = ApiServer(service, settings, recorder=recorder)
            address = await server.start()
        except ReceiverError as error:
            raise ServerError(f"api: {error}") from error
        try:
            yield address
        finally:
            await server.stop()
