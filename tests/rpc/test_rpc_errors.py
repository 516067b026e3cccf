"""Every failure is a canonical status with an ErrorInfo, and says nothing of the inside (R7)."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from stemma.conversation.v1 import session_service_pb2
from structlog.testing import capture_logs

from kernel import errors
from kernel.rpc import status
from tests.rpc.plumbing import GET, RESPOND, SESSION_ID, Running

REQUEST = session_service_pb2.GetSessionRequest(
    session_id=SESSION_ID,
)

CASES = {
    errors.Invalid: (errors.invalid("a", "is required"), "INVALID_ARGUMENT"),
    errors.NotFound: (errors.NotFound("floor"), "NOT_FOUND"),
    errors.Hidden: (errors.Hidden("floor"), "NOT_FOUND"),
    errors.AlreadyExists: (errors.request_id_reused(), "ALREADY_EXISTS"),
    errors.Aborted: (errors.head_moved("main", SESSION_ID), "ABORTED"),
    errors.FailedPrecondition: (errors.floor_pending(SESSION_ID), "FAILED_PRECONDITION"),
    errors.OutOfRange: (errors.OutOfRange("CURSOR_AHEAD", "a"), "OUT_OF_RANGE"),
    errors.Exhausted: (errors.Exhausted("QUOTA", "a"), "RESOURCE_EXHAUSTED"),
    errors.Unavailable: (errors.Unavailable("UNAVAILABLE", "a"), "UNAVAILABLE"),
    errors.DataLoss: (errors.DataLoss("DIGEST_MISMATCH", "a"), "DATA_LOSS"),
    errors.DeadlineExceeded: (errors.DeadlineExceeded("PROVIDER_TIMEOUT", "a"), "DEADLINE_EXCEEDED"),
    errors.Unimplemented: (errors.Unimplemented("a"), "UNIMPLEMENTED"),
    errors.Unauthenticated: (errors.Unauthenticated("UNAUTHENTICATED", "a"), "UNAUTHENTICATED"),
    errors.Forbidden: (errors.Forbidden("FORBIDDEN", "a"), "PERMISSION_DENIED"),
}


def kinds(base: type[errors.StemmaError] = errors.StemmaError) -> Iterator[type[errors.StemmaError]]:
    for kind in base.__subclasses__():
        if kind.__module__ == "kernel.errors":
            yield kind
        yield from kinds(kind)


def test_every_kind_of_error_has_a_code_and_a_case() -> None:
    assert set(kinds()) == set(status.CODES) == set(CASES)


def test_a_kind_of_a_kind_has_its_parents_code() -> None:
    class Special(errors.NotFound):
        pass

    assert status.code_of(Special("floor")) == grpc.StatusCode.NOT_FOUND


def test_a_kind_that_the_table_does_not_know_is_a_fault_of_ours() -> None:
    with pytest.raises(LookupError, match="StemmaError has no status code"):
        status.to_status(errors.StemmaError("X", "y"))


@pytest.mark.parametrize("kind", list(CASES), ids=lambda kind: kind.__name__)
async def test_errors_arrive_with_their_code_reason_and_metadata(
    rpc: Running, kind: type[errors.StemmaError]
) -> None:
    error, name = CASES[kind]

    async def get(_request: Any, _call: Any) -> bytes:
        raise error

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.refused(grpc.StatusCode[name], error.reason)
    assert answer.text == error.message
    assert dict(answer.info.metadata) == error.metadata
    assert answer.trailers["x-request-id"]


async def test_violations_and_retry_delay_arrive(rpc: Running) -> None:
    exhausted = errors.Exhausted("OVERLOADED", "Too much.")
    exhausted.retry_after = 1.5
    raised: list[errors.StemmaError] = [
        errors.Invalid(errors.Violation("a.b", "is required"), errors.Violation("c", "is odd")),
        exhausted,
    ]

    async def get(_request: Any, _call: Any) -> bytes:
        raise raised.pop(0)

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.fields == ["a.b", "c"]
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.retry.retry_delay.ToMilliseconds() == 1_500


async def test_more_violations_than_metadata_holds_are_cut(rpc: Running) -> None:
    async def get(_request: Any, _call: Any) -> bytes:
        raise errors.Invalid(*(errors.Violation(f"f[{n}]", "ü" * 2_000) for n in range(5_000)))

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.refused(grpc.StatusCode.INVALID_ARGUMENT, "INVALID")
    assert answer.fields[0] == "f[0]"
    assert len(answer.fields) < 10


SECRET = "a secret in the exception"


async def test_bad_input_60_internal_exception(rpc: Running) -> None:
    async def get(_request: Any, _call: Any) -> bytes:
        raise RuntimeError(SECRET)

    rpc.sessions.get = get
    with capture_logs() as lines:
        answer = await rpc.client.unary(GET, REQUEST)
    assert answer.refused(grpc.StatusCode.INTERNAL, "INTERNAL")
    assert answer.status is not None
    for words in (SECRET, "RuntimeError", "Traceback"):
        assert words not in answer.text
        assert words.encode() not in answer.status.SerializeToString()
    (line,) = [line for line in lines if line["event"] == "unexpected error"]
    assert line["error_id"] == answer.info.metadata["error_id"]
    assert line["exc_info"].args == (SECRET,)
    assert await rpc.still_serves()


async def test_bad_input_60_internal_exception_in_a_stream(rpc: Running) -> None:
    async def frames(_request: Any, _call: Any) -> Any:
        yield b""
        raise KeyError(SECRET)

    rpc.runs.frames = frames
    answer = await rpc.client.stream(RESPOND)
    assert answer.messages == (b"",)
    assert answer.refused(grpc.StatusCode.INTERNAL, "INTERNAL")
    assert SECRET not in answer.text


async def test_bad_input_60_an_answer_of_the_wrong_type(rpc: Running) -> None:
    async def get(_request: Any, _call: Any) -> Any:
        return {"not": "a message"}

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.refused(grpc.StatusCode.INTERNAL, "INTERNAL")


async def test_an_error_before_the_first_frame_of_a_stream(rpc: Running) -> None:
    async def frames(_request: Any, _call: Any) -> Any:
        raise errors.NotFound("session")
        yield b""

    rpc.runs.frames = frames
    answer = await rpc.client.stream(RESPOND)
    assert answer.refused(grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_a_frame_over_4_mib_ends_the_stream(rpc: Running) -> None:
    async def frames(_request: Any, _call: Any) -> Any:
        yield b""
        yield bytes(4 * 1024 * 1024 + 1)

    rpc.runs.frames = frames
    answer = await rpc.client.stream(RESPOND)
    assert answer.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert answer.messages == (b"",)


def test_details_are_packed_as_google_types() -> None:
    packed = status.to_status(errors.invalid("a", "b")).details
    assert [detail.type_url for detail in packed] == [
        "type.googleapis.com/google.rpc.ErrorInfo",
        "type.googleapis.com/google.rpc.BadRequest",
    ]
    info = error_details_pb2.ErrorInfo.FromString(packed[0].value)
    assert (info.reason, info.domain) == ("INVALID", "stemma")
