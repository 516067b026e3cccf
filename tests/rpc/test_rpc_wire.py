"""What arrives as bytes: garbage, sizes, unknown names. The numbers are those of bad-inputs."""

import os
import random

import grpc
import pytest
from stemma.conversation.v1 import session_service_pb2

from tests.rpc.plumbing import CREATE, GET, LIST, RESPOND, SESSION_ID, Running
from tests.rpc.raw_http2 import message, raw_call

INVALID_ARGUMENT = grpc.StatusCode.INVALID_ARGUMENT
MIB = 1024 * 1024


def nested(levels: int) -> bytes:
    """Unknown groups, one in the other: field 1000, which no message has."""
    return b"\xc3\x3e" * levels + b"\xc4\x3e" * levels


def get_request() -> bytes:
    return session_service_pb2.GetSessionRequest(session_id=SESSION_ID).SerializeToString()


def raw_field(payload: bytes) -> bytes:
    """Field 1 as raw bytes, whatever the message says its type is."""
    return b"\x0a" + bytes([len(payload)]) + payload


async def refuse(rpc: Running, method: str, garbage: bytes) -> None:
    answer = await rpc.client.unary(method, garbage)
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert "Error parsing" not in answer.text
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize("seed", range(5))
async def test_bad_input_1_random_bytes(rpc: Running, seed: int) -> None:
    # 0x07 is a tag with a wire type that does not exist, so that no seed is a message by chance.
    await refuse(rpc, GET, b"\x07" + random.Random(seed).randbytes(200))


async def test_bad_input_1_random_bytes_to_a_stream(rpc: Running) -> None:
    answer = await rpc.client.stream(RESPOND, b"\x07" + os.urandom(100))
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert await rpc.still_serves()


async def test_bad_input_2_truncated_length_in_the_message(rpc: Running) -> None:
    await refuse(rpc, GET, b"\x0a\x10abc")


@pytest.mark.parametrize("body", [b"\0\0\0", message(b"abc", length=100)])
async def test_bad_input_2_truncated_length_prefix_of_the_call(rpc: Running, body: bytes) -> None:
    assert await raw_call(rpc.server.address, GET, body) == INVALID_ARGUMENT.value[0]
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize("text", [b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
async def test_bad_input_3_invalid_utf8(rpc: Running, text: bytes) -> None:
    await refuse(rpc, GET, raw_field(text))


@pytest.mark.parametrize("levels", [101, 5_000])
async def test_bad_input_4_nesting(rpc: Running, levels: int) -> None:
    await refuse(rpc, GET, get_request() + nested(levels))


async def test_bad_input_4_a_hundred_levels_pass(rpc: Running) -> None:
    answer = await rpc.client.unary(GET, get_request() + nested(100))
    assert answer.code == grpc.StatusCode.OK


@pytest.mark.parametrize(("method", "field"), [(GET, "session_id"), (CREATE, "request_id")])
async def test_bad_input_5_empty_message(rpc: Running, method: str, field: str) -> None:
    answer = await rpc.client.unary(method, b"")
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert answer.fields == [field]
    assert await rpc.still_serves()


async def test_a_unary_call_without_a_message(rpc: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await rpc.client.channel.stream_unary(GET)(iter(()), timeout=20)
    assert caught.value.code() == INVALID_ARGUMENT
    assert await rpc.still_serves()


def request_of(size: int) -> bytes:
    """A ListSessions request of exactly `size` bytes, most of them in an unknown field."""
    filler = size - 6
    return (
        b"\xc2\x3e"
        + bytes([filler & 127 | 128, filler >> 7 & 127 | 128, filler >> 14 & 127 | 128, filler >> 21])
        + bytes(filler)
    )


async def test_bad_input_6_request_too_large(rpc: Running) -> None:
    largest = request_of(4 * MIB)
    assert len(largest) == 4 * MIB
    assert (await rpc.client.unary(LIST, largest)).code == grpc.StatusCode.OK
    answer = await rpc.client.unary(LIST, request_of(4 * MIB + 1))
    assert answer.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert len(rpc.sessions.requests) == 1
    assert await rpc.still_serves()


async def test_bad_input_6_request_far_too_large(rpc: Running) -> None:
    answer = await rpc.client.unary(LIST, request_of(8 * MIB))
    assert answer.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize("as_bytes", [True, False])
async def test_bad_input_8_a_large_answer_is_not_sent(rpc: Running, as_bytes: bool) -> None:
    response = session_service_pb2.GetSessionResponse()
    response.session.title = "x" * (5 * MIB)

    async def get(_request: object, _call: object) -> object:
        return response.SerializeToString() if as_bytes else response

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, get_request())
    assert answer.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert await rpc.still_serves()


async def test_an_answer_at_the_limit_is_sent_as_it_is(rpc: Running) -> None:
    answered = bytes(4 * MIB)

    async def get(_request: object, _call: object) -> bytes:
        return answered

    rpc.sessions.get = get
    assert (await rpc.client.unary(GET, get_request())).messages == (answered,)


async def test_bad_input_10_compression_not_accepted(rpc: Running) -> None:
    body = message(get_request(), compressed=True)
    status = await raw_call(rpc.server.address, GET, body, extra=(("grpc-encoding", "deflate"),))
    assert status == grpc.StatusCode.UNIMPLEMENTED.value[0]
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


async def test_bad_input_10_compression_unknown_to_grpc(rpc: Running) -> None:
    body = message(get_request(), compressed=True)
    status = await raw_call(rpc.server.address, GET, body, extra=(("grpc-encoding", "zzz"),))
    # gRPC's core refuses the header itself, as INTERNAL, before any code of ours could say better.
    assert status in (grpc.StatusCode.UNIMPLEMENTED.value[0], grpc.StatusCode.INTERNAL.value[0])
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize(
    "name",
    [
        "/stemma.conversation.v1.SessionService/Nothing",
        "/stemma.conversation.v1.NoService/GetSession",
        "/stemma.conversation.v1.SessionService/get_session",
        "/",
        "/" + "x" * 5_000,
    ],
)
async def test_bad_input_11_unknown_method(rpc: Running, name: str) -> None:
    for answer in (await rpc.client.unary(name, get_request()), await rpc.client.stream(name)):
        assert answer.refused(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED")
        assert answer.trailers["x-request-id"]
    assert await rpc.still_serves()


async def test_metadata_over_the_limit(rpc: Running) -> None:
    answer = await rpc.client.unary(GET, get_request(), metadata=(("x-much", "y" * 17_000),))
    assert answer.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize(
    "session_id",
    ["", "a" * 1_025, "a/b", "..", "a\0b", "a\nb", "%2e%2e", SESSION_ID[:-1] + "\u200f", SESSION_ID + "\n"],
)
async def test_bad_input_18_malformed_id(rpc: Running, session_id: str) -> None:
    request = session_service_pb2.GetSessionRequest(session_id=session_id)
    answer = await rpc.client.unary(GET, request)
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert answer.fields == ["session_id"]
    assert await rpc.still_serves()


@pytest.mark.parametrize("request_id", ["00000000-0000-0000-0000-000000000000", "no-uuid", "a" * 300])
async def test_bad_input_20_bad_request_id(rpc: Running, request_id: str) -> None:
    answer = await rpc.client.unary(CREATE, session_service_pb2.CreateSessionRequest(request_id=request_id))
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert answer.fields == ["request_id"]


async def test_bad_input_21_no_request_id(rpc: Running) -> None:
    answer = await rpc.client.unary(CREATE, session_service_pb2.CreateSessionRequest(title="a"))
    assert answer.refused(INVALID_ARGUMENT, "INVALID")
    assert answer.fields == ["request_id"]


async def test_bad_input_35_page_size(rpc: Running) -> None:
    negative = await rpc.client.unary(LIST, session_service_pb2.ListSessionsRequest(page_size=-1))
    assert negative.refused(INVALID_ARGUMENT, "INVALID")
    assert negative.fields == ["page_size"]
    huge = await rpc.client.unary(LIST, session_service_pb2.ListSessionsRequest(page_size=2**31 - 1))
    listed = session_service_pb2.ListSessionsResponse.FromString(huge.messages[0])
    assert len(listed.sessions) == 1_000
