"""Requests that are no messages, and calls that are none: 1 to 5, 10 and 11, for every RPC."""

import random

import pytest

from tests.bad_inputs.wire import at, nested, string_fields
from tests.bad_inputs.world import ON_SQLITE_ONLY, RPCS, World, invalid, path_of, refused
from tests.rpc.raw_http2 import message, raw_call
from tests.support.client import METHODS

pytestmark = [pytest.mark.asyncio(loop_scope="session"), ON_SQLITE_ONLY]

INVALID_ARGUMENT, UNIMPLEMENTED, INTERNAL = 3, 12, 13
BAD_UTF8 = [b"\xff", b"\xc3\x28", b"\xed\xa0\x80"]
# RPCs that need nothing to be said.
NEED_NOTHING = {"ListSessions", "ListProjects", "ListStagedWrites"}
NEED_NOTHING |= {"ListApiKeys", "ListAuditEntries", "Introspect"}


async def test_bad_input_1_random_bytes(world: World) -> None:
    for seed, name in enumerate(RPCS * 3):
        # The first byte is a tag with a wire type that does not exist: no seed is a message by chance.
        garbage = b"\x07" + random.Random(seed).randbytes(200)
        invalid(await world.ask(name, garbage))


async def test_bad_input_1_a_request_that_breaks_off_in_garbage(world: World) -> None:
    for name in RPCS:
        whole = world.sample(name).SerializeToString()
        invalid(await world.ask(name, whole + b"\x07"))


async def test_bad_input_2_a_field_that_is_cut_off(world: World) -> None:
    for name in RPCS:
        invalid(await world.ask(name, b"\x0a\x10abc"))
        invalid(await world.ask(name, world.sample(name).SerializeToString() + b"\x0a"))


@pytest.mark.parametrize("body", [b"\0\0\0", message(b"abc", length=100)])
async def test_bad_input_2_a_truncated_length_prefix(world: World, body: bytes) -> None:
    for name in RPCS:
        assert await raw_call(world.service.address, path_of(name), body) == INVALID_ARGUMENT


async def test_bad_input_3_invalid_utf8_in_every_string(world: World) -> None:
    asked = 0
    for name in RPCS:
        for numbers in string_fields(METHODS[name].input_type):
            invalid(await world.ask(name, at(numbers, BAD_UTF8[asked % len(BAD_UTF8)])))
            asked += 1
    assert asked > 200


@pytest.mark.parametrize("levels", [101, 5_000])
async def test_bad_input_4_nesting(world: World, levels: int) -> None:
    for name in RPCS:
        invalid(await world.ask(name, world.sample(name).SerializeToString() + nested(levels)))


async def test_bad_input_5_the_empty_message(world: World) -> None:
    for name in RPCS:
        answer = await world.ask(name, b"")
        if name in NEED_NOTHING:
            assert answer.code.name == "OK"
        else:
            assert invalid(answer).fields


async def test_bad_input_5_no_message_at_all(world: World) -> None:
    for name in RPCS:
        assert await raw_call(world.service.address, path_of(name), b"") == INVALID_ARGUMENT


async def test_bad_input_10_compression_that_is_not_accepted(world: World) -> None:
    for name in RPCS:
        body = message(world.sample(name).SerializeToString(), compressed=True)
        status = await raw_call(
            world.service.address, path_of(name), body, extra=(("grpc-encoding", "deflate"),)
        )
        assert status == UNIMPLEMENTED


async def test_bad_input_10_compression_that_nobody_knows(world: World) -> None:
    body = message(world.sample("GetSession").SerializeToString(), compressed=True)
    for name in ("GetSession", "Respond"):
        extra = (("grpc-encoding", "zzz"),)
        status = await raw_call(world.service.address, path_of(name), body, extra=extra)
        # gRPC's core refuses the header itself, before any code of ours could say better.
        assert status in (UNIMPLEMENTED, INTERNAL)


async def test_bad_input_11_unknown_methods_and_services(world: World) -> None:
    for path in (
        "/stemma.conversation.v1.FloorService/DropFloors",
        "/stemma.conversation.v1.FloorService/append_floor",
        "/stemma.conversation.v1.FloorService/",
        "/stemma.conversation.v9.FloorService/AppendFloor",
        "/stemma.draft.v1.DraftService/CreateDraft",
        "/",
        "/" + "x" * 5_000,
    ):
        request = world.sample("AppendFloor")
        for answer in (await world.raw.unary(path, request), await world.raw.stream(path, request)):
            refused(answer, "UNIMPLEMENTED", "UNIMPLEMENTED")
