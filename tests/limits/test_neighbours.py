"""Two tenants on one real server: what one asks for too much is its own to wait for."""

import asyncio
from collections import Counter
from pathlib import Path

import grpc
from stemma.conversation.v1 import session_service_pb2

from kernel.rpc.call import Identity, Metadata, Peer, no_peer
from kernel.rpc.limits import TenantLimits
from kernel.rpc.quotas import Limits
from kernel.rpc.server import ServerOptions
from tests.limits.callers import ByName, as_tenant
from tests.rpc.plumbing import CREATE, GET, IMPORT, LIST, RESPOND, SESSION_ID, Answer, running
from tests.rpc.test_rpc_overload import Held
from tests.secrets.story import Caller, Issuer, channel, environment
from tests.support.client import user
from tests.support.processes import conversation_service

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
ASK = session_service_pb2.GetSessionRequest(session_id=SESSION_ID)
LIST_ONE = session_service_pb2.ListSessionsRequest(page_size=1)


def over_quota(answer: Answer, limit: str) -> bool:
    """RESOURCE_EXHAUSTED that says which limit and when to come again."""
    named = answer.refused(EXHAUSTED, "QUOTA") and answer.info.metadata["limit"] == limit
    return named and answer.retry.retry_delay.ToMilliseconds() > 0


async def test_bad_input_54_a_rate() -> None:
    """Refused before it is read: even garbage, and calls that write."""
    limits = Limits(TenantLimits(rate=0.001, burst=2))
    async with running(authenticator=ByName(), limits=limits) as rpc:
        assert [(await rpc.client.unary(LIST, LIST_ONE, **as_tenant("loud"))).code for _ in range(2)] == [
            grpc.StatusCode.OK
        ] * 2
        assert over_quota(await rpc.client.unary(LIST, LIST_ONE, **as_tenant("loud")), "rate")
        assert over_quota(await rpc.client.unary(CREATE, b"\xff\xff", **as_tenant("loud")), "rate")
        assert over_quota(await rpc.client.stream(RESPOND, b"", **as_tenant("loud")), "rate")
        other = await rpc.client.unary(LIST, LIST_ONE, **as_tenant("quiet"))
        assert other.code == grpc.StatusCode.OK
        # Nobody is counted who is not known, and no service is.
        assert (await rpc.client.unary(LIST, LIST_ONE)).code == grpc.StatusCode.UNAUTHENTICATED
        for _ in range(4):
            called = await rpc.client.unary(LIST, LIST_ONE, **as_tenant("service"))
            assert called.code == grpc.StatusCode.OK


async def test_bad_input_54_items_of_a_stream_are_slowed_and_none_is_lost() -> None:
    limits = Limits(TenantLimits(rate=200, burst=1))
    async with running(authenticator=ByName(), limits=limits) as rpc:
        call = rpc.client.channel.stream_stream(IMPORT)(**as_tenant("loud"))
        for _ in range(30):
            await call.write(session_service_pb2.ImportSessionsRequest(chunk=b"x").SerializeToString())
        await call.done_writing()
        assert len([answer async for answer in call]) == 30
        assert await call.code() == grpc.StatusCode.OK


async def test_a_noisy_neighbour_takes_nothing_from_a_quiet_one() -> None:
    """Ten times what the server works on at once, all the while: the quiet tenant's every call is done."""
    options = ServerOptions(max_calls=16)
    async with running(options, authenticator=ByName(), limits=Limits(TenantLimits(fair=True))) as rpc:
        held = Held()
        rpc.sessions.get = held.get
        noise = [asyncio.create_task(rpc.client.unary(GET, ASK, **as_tenant("loud"))) for _ in range(160)]
        await held.until(11)
        quiet = [await rpc.client.unary(LIST, LIST_ONE, **as_tenant("quiet")) for _ in range(40)]
        assert [answer.code for answer in quiet] == [grpc.StatusCode.OK] * 40
        while sum(task.done() for task in noise) < 149:
            await asyncio.wait([task for task in noise if not task.done()], return_when="FIRST_COMPLETED")
        # And side by side, beside what is refused without end.
        more = [asyncio.create_task(rpc.client.unary(GET, ASK, **as_tenant("loud"))) for _ in range(160)]
        quiet = await asyncio.gather(
            *[rpc.client.unary(LIST, LIST_ONE, **as_tenant("quiet")) for _ in range(4)]
        )
        assert [answer.code for answer in quiet] == [grpc.StatusCode.OK] * 4
        assert all(over_quota(answer, "fair_share") for answer in await asyncio.gather(*more))
        assert held.inside == 11
        held.go.set()
        answers = await asyncio.gather(*noise)
    done = [answer for answer in answers if answer.code == grpc.StatusCode.OK]
    refused = [answer for answer in answers if answer.code != grpc.StatusCode.OK]
    assert len(done) == 11
    assert all(over_quota(answer, "fair_share") for answer in refused)


async def test_a_neighbour_whose_key_is_looked_up_for_long_is_in_nobodys_way() -> None:
    """Its calls wait for the database by the dozen; they are not what the server works on."""

    class Slow(ByName):
        def __init__(self) -> None:
            self.asked, self.found = 0, asyncio.Event()
            self.all_asked = asyncio.Event()

        async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
            who = await super().authenticate(metadata, method, peer)
            if who.tenant_id == "loud":
                self.asked += 1
                if self.asked == 160:
                    self.all_asked.set()
                await self.found.wait()
            return who

    keys = Slow()
    limits = Limits(TenantLimits(fair=True))
    async with running(ServerOptions(max_calls=16), authenticator=keys, limits=limits) as rpc:
        noise = [asyncio.create_task(rpc.client.unary(GET, ASK, **as_tenant("loud"))) for _ in range(160)]
        async with asyncio.timeout(20):
            await keys.all_asked.wait()
        quiet = [await rpc.client.unary(LIST, LIST_ONE, **as_tenant("quiet")) for _ in range(40)]
        assert [answer.code for answer in quiet] == [grpc.StatusCode.OK] * 40
        keys.found.set()
        codes = Counter(answer.code for answer in await asyncio.gather(*noise))
        assert set(codes) <= {grpc.StatusCode.OK, EXHAUSTED}
        assert codes[grpc.StatusCode.OK] >= 11
        # As many are looked up at once as there is room for, and no more.
        keys.found.clear()
        noise = [asyncio.create_task(rpc.client.unary(GET, ASK, **as_tenant("loud"))) for _ in range(300)]
        async with asyncio.timeout(20):
            while sum(task.done() for task in noise) < 44:
                await asyncio.wait([task for task in noise if not task.done()], return_when="FIRST_COMPLETED")
        assert all(task.result().refused(EXHAUSTED, "OVERLOADED") for task in noise if task.done())
        keys.found.set()
        await asyncio.gather(*noise)
        after = await rpc.client.unary(LIST, LIST_ONE, **as_tenant("quiet"))
        assert after.code == grpc.StatusCode.OK


async def test_a_tenants_streams_are_counted_to_their_end() -> None:
    limits = Limits(TenantLimits(streams=1))
    async with running(authenticator=ByName(), limits=limits) as rpc:
        open_stream = rpc.client.channel.stream_stream(IMPORT)(**as_tenant("loud"))
        await open_stream.write(session_service_pb2.ImportSessionsRequest(chunk=b"x").SerializeToString())
        assert await open_stream.read() is not grpc.aio.EOF
        assert over_quota(await rpc.client.stream(IMPORT, **as_tenant("loud")), "streams")
        open_stream.cancel()
        await rpc.ended()
        assert (await rpc.client.stream(IMPORT, **as_tenant("loud"))).code == grpc.StatusCode.OK


async def test_a_noisy_neighbour_of_the_real_service(tmp_path: Path) -> None:
    """Ten times its rate, as fast as it is answered: the other's every call is done, and those that the noisy
    one is allowed are, too."""
    issuer = Issuer(tmp_path)
    settings = environment(tmp_path, "http://127.0.0.1:1/v1") | {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_TENANT_RATE": "1",
        "STEMMA_TENANT_BURST": "40",
        "STEMMA_LOG_LEVEL": "WARNING",
    }
    async with conversation_service(settings) as service, channel(service.address) as opened:
        loud, quiet = (Caller(opened, issuer.token(name)) for name in ("loud", "quiet"))
        sessions = [(await one.call("CreateSession")).session.session_id for one in (loud, quiet)]

        async def append(caller: Caller, session: str) -> Answer:
            return await caller.ask("AppendFloor", session_id=session, input=[user("hi")])

        noise = [asyncio.create_task(append(loud, sessions[0])) for _ in range(400)]
        done = [await append(quiet, sessions[1]) for _ in range(39)]
        assert [answer.code.name for answer in done] == ["OK"] * 39
        answers = await asyncio.gather(*noise)
    refused = [answer for answer in answers if answer.code.name != "OK"]
    assert all(over_quota(answer, "rate") for answer in refused)
    assert len(answers) - len(refused) >= 39
    assert refused
