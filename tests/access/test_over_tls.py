"""Whoever comes over TLS with a key: the gateway, the command, both Python clients."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx
import pytest
from stemma.conversation.v1 import access_service_pb2 as access
from stemma.conversation.v1 import floor_service_pb2 as floors
from stemma.conversation.v1 import session_service_pb2 as sessions
from stemma_client import AsyncStemma, Stemma, errors

from kernel.rpc.tls import TlsFiles, channel_credentials
from tests.access.certificates import Authority, Pair
from tests.access.stage import new_key
from tests.cli.programs import in_process
from tests.conftest import DatabaseFactory
from tests.gateway.harness import serve_gateway
from tests.support.service import running_service

ASKED = sessions.CreateSessionRequest(title="over TLS")


@dataclass
class Guarded:
    """A service that shows a certificate, asks its clients for theirs, and takes `drafts` for a service."""

    address: str
    key: str
    ca: str
    own: Pair
    drafts: Pair


@pytest.fixture
async def guarded(database_factory: DatabaseFactory, tmp_path: Path) -> AsyncIterator[Guarded]:
    ours = Authority(tmp_path, "ours")
    server = ours.pair("conversation")
    shown = {"tls_cert": server.cert, "tls_key": server.key, "tls_client_ca": ours.ca}
    with database_factory("sqlite") as url:
        async with running_service(url, auth="on", service_names="drafts", **shown) as service:
            _, secret = await new_key(service.service.store, "ada", role="owner")  # type: ignore[arg-type]
            yield Guarded(service.address, secret, ours.ca, ours.pair("app"), ours.pair("drafts"))


async def test_the_gateway_lends_nobody_its_own_certificate(guarded: Guarded) -> None:
    """Even one that the services take for a service's: a caller who brings nothing stays nobody."""
    shown = {"tls_ca": guarded.ca, "tls_cert": guarded.drafts.cert, "tls_key": guarded.drafts.key}
    async with (
        serve_gateway(guarded.address, auth="on", **shown) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as nobody,
    ):
        for headers in ({}, {"x-stemma-tenant": "acme"}, {"x-api-key": ""}):
            refused = await nobody.get("/v1/sessions", headers=headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        known = await nobody.get("/v1/sessions", headers={"x-api-key": guarded.key})
        assert (known.status_code, known.json()["sessions"]) == (200, [])


async def test_the_command_brings_key_and_certificate(guarded: Guarded) -> None:
    place = {"STEMMA_CONVERSATION": guarded.address, "STEMMA_API_KEY": guarded.key}
    shown = {"STEMMA_TLS_CERT": guarded.own.cert, "STEMMA_TLS_KEY": guarded.own.key}
    done = await in_process("sessions", **place, **shown, STEMMA_TLS_CA=guarded.ca)
    assert (done.code, done.err) == (0, "")
    missing = await in_process("sessions", **place, STEMMA_TLS_CA="/nowhere.pem")
    assert (missing.code, missing.err) == (
        2,
        "error: STEMMA_TLS_CA names a file that cannot be read: No such file or directory.\n",
    )


async def test_the_python_clients_bring_them_too(guarded: Guarded) -> None:
    files = TlsFiles(cert=guarded.own.cert, key=guarded.own.key, ca=guarded.ca)
    known = channel_credentials(files)
    async with AsyncStemma(guarded.address, api_key=guarded.key, credentials=known) as stemma:
        made = (await stemma.sessions.CreateSession(ASKED)).session
        # A stream brings the key as well.
        async for event in stemma.watch("default"):
            assert event.session_id == made.session_id
            break
        with pytest.raises(errors.Forbidden) as forbidden:
            await stemma.access.ListApiKeys(access.ListApiKeysRequest())
        assert forbidden.value.reason == "FORBIDDEN"
    with Stemma(guarded.address, api_key="stk_" + "x" * 43, credentials=known) as other:
        create = other.sessions.CreateSession
        with pytest.raises(errors.Unauthenticated):
            await asyncio.to_thread(create, ASKED)


async def test_a_refused_stream_of_requests_says_who_refused_it(guarded: Guarded) -> None:
    """Whatever grpc says when a request meets the end of the call."""

    async def items() -> AsyncIterator[floors.AppendFloorsRequest]:
        for _ in range(50):
            yield floors.AppendFloorsRequest()

    files = TlsFiles(cert=guarded.own.cert, key=guarded.own.key, ca=guarded.ca)
    async with AsyncStemma(
        guarded.address, api_key="stk_" + "x" * 43, credentials=channel_credentials(files)
    ) as stemma:
        for _ in range(10):
            with pytest.raises(errors.Unauthenticated):
                await anext(stemma.floors.AppendFloors(items()))


async def test_a_plain_channel_does_not_get_in(guarded: Guarded) -> None:
    async with AsyncStemma(guarded.address, api_key=guarded.key, timeout=1.0) as stemma:
        with pytest.raises(errors.Unavailable) as refused:
            await stemma.sessions.CreateSession(ASKED)
        assert refused.value.code is grpc.StatusCode.UNAVAILABLE
