"""What the draft service remembers of credentials and members, and for how long."""

from collections.abc import AsyncIterator

import grpc
import pytest
from stemma.conversation.v1 import access_service_pb2 as pb

from draft_service.clients.introspection import KEPT, KEPT_WHILE_AWAY, NO_KEPT, Introspection
from kernel.errors import Unauthenticated, Unavailable
from kernel.rpc.call import Call
from kernel.rpc.credentials import unauthenticated
from kernel.rpc.server import Server, serve

SERVICE = pb.DESCRIPTOR.services_by_name["AccessService"]


class Access:
    """Answers as told; nothing else of the service is used."""

    def __init__(self) -> None:
        self.known = True
        self.own_is_bad = False
        self.asked: list[pb.IntrospectRequest] = []

    async def introspect(self, request: pb.IntrospectRequest, call: Call) -> pb.IntrospectResponse:
        self.asked.append(request)
        if self.own_is_bad:
            raise unauthenticated()
        if not self.known:
            error = unauthenticated()
            error.metadata = {"whose": "nobody"}
            raise error
        return pb.IntrospectResponse(tenant_id="acme", principal="ada", role=2, scopes=["drafts.internal"])

    async def create_api_key(self, request: pb.CreateApiKeyRequest, call: Call) -> pb.CreateApiKeyResponse:
        raise AssertionError

    async def revoke_api_key(self, request: pb.RevokeApiKeyRequest, call: Call) -> pb.RevokeApiKeyResponse:
        raise AssertionError

    async def list_api_keys(self, request: pb.ListApiKeysRequest, call: Call) -> pb.ListApiKeysResponse:
        raise AssertionError


class World:
    def __init__(self, access: Access, server: Server, channel: grpc.aio.Channel) -> None:
        self.access, self.server = access, server
        self.passed = 0.0
        self.client = Introspection(channel, (), lambda: self.passed)

    async def role(self) -> frozenset[str]:
        found = await self.client.verify("stk_x")
        assert found is not None
        return found.roles


@pytest.fixture
async def world() -> AsyncIterator[World]:
    access = Access()
    server = await serve({SERVICE: access}, "127.0.0.1:0")
    async with grpc.aio.insecure_channel(server.address) as channel:
        yield World(access, server, channel)
    await server.stop()


async def test_a_yes_is_kept_for_a_minute(world: World) -> None:
    for _ in range(3):
        assert await world.role() == {"contributor", "drafts.internal"}
    assert len(world.access.asked) == 1
    world.access.known = False
    world.passed = KEPT - 0.1
    await world.role()
    world.passed = KEPT
    with pytest.raises(Unauthenticated):
        await world.role()


async def test_and_for_a_quarter_of_an_hour_while_nobody_can_be_asked(world: World) -> None:
    await world.role()
    await world.server.stop()
    world.passed = KEPT_WHILE_AWAY - 0.1
    await world.role()
    world.passed = KEPT_WHILE_AWAY
    with pytest.raises(Unavailable):
        await world.role()


async def test_a_no_is_asked_again_soon(world: World) -> None:
    world.access.known = False
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await world.role()
    assert len(world.access.asked) == 1
    world.access.known = True
    world.passed = NO_KEPT
    await world.role()


async def test_a_no_is_never_honoured_for_longer(world: World) -> None:
    world.access.known = False
    with pytest.raises(Unauthenticated):
        await world.role()
    await world.server.stop()
    world.passed = NO_KEPT
    with pytest.raises(Unavailable):
        await world.role()


async def test_a_bad_credential_of_its_own_says_nothing_of_the_callers(world: World) -> None:
    world.access.own_is_bad = True
    with pytest.raises(Unavailable):
        await world.role()


async def test_members_are_asked_for_by_what_is_theirs(world: World) -> None:
    await world.client.role("acme", "ada", "session", "0193a1b2-0000-7000-8000-000000000001")
    await world.client.projects_of("acme", "ada")
    first, second = world.access.asked
    assert (first.tenant, first.principal, bool(first.session_id)) == ("acme", "ada", True)
    assert second.memberships
