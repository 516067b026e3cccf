"""Calls whose time is up before they begin: 49, for every RPC."""

import pytest

from tests.bad_inputs.world import ON_SQLITE_ONLY, RPCS, World, path_of
from tests.rpc.raw_http2 import message, raw_call

pytestmark = [pytest.mark.asyncio(loop_scope="session"), ON_SQLITE_ONLY]

DEADLINE_EXCEEDED = 4


@pytest.mark.parametrize("timeout", [0.001, 0, -1])
async def test_bad_input_49_a_deadline_of_1_ms_or_passed(world: World, timeout: float) -> None:
    for name in RPCS:
        answer = await world.ask(name, world.sample(name), timeout=timeout)
        assert answer.code.name == "DEADLINE_EXCEEDED", name
        assert answer.messages == ()


@pytest.mark.parametrize("timeout", ["1m", "1n", "0S"])
async def test_bad_input_49_as_the_server_sees_it(world: World, timeout: str) -> None:
    """By hand, so that no client's clock answers first."""
    for name in RPCS:
        body = message(world.sample(name).SerializeToString())
        extra = (("grpc-timeout", timeout),)
        status = await raw_call(world.service.address, path_of(name), body, extra=extra)
        assert status == DEADLINE_EXCEEDED, name


async def test_bad_input_49_no_deadline_is_the_servers(world: World) -> None:
    answer = await world.ask("GetSession", world.sample("GetSession"), timeout=None)
    assert answer.code.name == "OK"
