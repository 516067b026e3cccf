"""Streams in both directions: each message is parsed when it is asked for, and refused by itself."""

import grpc
from grpc import aio
from stemma.conversation.v1 import session_service_pb2 as pb

from tests.rpc.plumbing import IMPORT, running


def _call(channel: aio.Channel) -> aio.StreamStreamCall:
    method = channel.stream_stream(IMPORT, response_deserializer=pb.ImportSessionsResponse.FromString)
    return method(timeout=10)


def _title(answer: pb.ImportSessionsResponse) -> str:
    return answer.result.title


async def test_answers_come_between_requests() -> None:
    async with running() as plumbing, aio.insecure_channel(plumbing.server.address) as channel:
        call = _call(channel)
        header = pb.ImportSessionsRequest(header=pb.ImportHeader(format="oasst"))
        await call.write(header.SerializeToString())
        assert _title(await call.read()) == "header"
        await call.write(pb.ImportSessionsRequest(chunk=b"abc").SerializeToString())
        assert _title(await call.read()) == "chunk"
        await call.done_writing()
        assert await call.read() is aio.EOF
        assert await call.code() == grpc.StatusCode.OK


async def test_no_message_at_all_is_an_empty_stream() -> None:
    async with running() as plumbing, aio.insecure_channel(plumbing.server.address) as channel:
        call = _call(channel)
        await call.done_writing()
        assert await call.read() is aio.EOF
        assert await call.code() == grpc.StatusCode.OK


async def test_bad_input_1_garbage_in_mid_stream() -> None:
    async with running() as plumbing, aio.insecure_channel(plumbing.server.address) as channel:
        call = _call(channel)
        await call.write(pb.ImportSessionsRequest(chunk=b"abc").SerializeToString())
        assert _title(await call.read()) == "chunk"
        await call.write(b"\xff\xff\xff")
        assert await call.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert await plumbing.still_serves()
