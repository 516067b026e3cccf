"""The Python client without a network: which errors pass, how long it waits, what a request is given."""

from typing import Any

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import floor_service_pb2, session_service_pb2
from stemma_client import errors
from stemma_client.requests import FeedPlace, Times, with_request_id
from stemma_client.retries import Retries

CODES = grpc.StatusCode


class Refused(grpc.RpcError):
    """As grpc raises it."""

    def __init__(self, code: grpc.StatusCode, *details: Any, raw: bytes | None = None) -> None:
        self._code = code
        self._trailers: list[tuple[str, bytes]] = []
        if details or raw is not None:
            packed = [any_pb2.Any() for _ in details]
            for holder, detail in zip(packed, details, strict=True):
                holder.Pack(detail)
            status = status_pb2.Status(code=code.value[0], message="words", details=packed)
            self._trailers = [("grpc-status-details-bin", raw or status.SerializeToString())]

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "of the connection"

    def trailing_metadata(self) -> Any:
        return self._trailers


def info(reason: str, **metadata: str) -> error_details_pb2.ErrorInfo:
    return error_details_pb2.ErrorInfo(reason=reason, domain="stemma", metadata=metadata)


def test_a_reason_has_its_class_and_says_what_to_look_at() -> None:
    moved = errors.error_of(
        Refused(CODES.ABORTED, info("HEAD_MOVED", branch="main", current_head="f1")), "a:1"
    )
    assert isinstance(moved, errors.HeadMoved)
    assert (moved.current_head, moved.address, str(moved)) == ("f1", "a:1", "words (HEAD_MOVED)")
    old = errors.error_of(Refused(CODES.OUT_OF_RANGE, info("CURSOR_TOO_OLD", earliest="7")))
    assert isinstance(old, errors.CursorTooOld)
    assert old.earliest == 7


def test_a_code_stands_in_for_a_reason_without_a_class() -> None:
    bad = error_details_pb2.BadRequest(field_violations=[{"field": "title", "description": "is too long"}])
    invalid = errors.error_of(Refused(CODES.INVALID_ARGUMENT, info("INVALID"), bad))
    assert isinstance(invalid, errors.InvalidRequest)
    assert str(invalid) == "title: is too long (INVALID)"
    assert type(errors.error_of(Refused(CODES.DATA_LOSS, info("DIGEST_MISMATCH")))) is errors.StemmaError


@pytest.mark.parametrize(
    ("refused", "passes"),
    [
        (Refused(CODES.UNAVAILABLE), True),
        (Refused(CODES.UNAVAILABLE, info("UNAVAILABLE")), True),
        (Refused(CODES.INTERNAL), True),
        (Refused(CODES.INTERNAL, info("INTERNAL", error_id="e")), False),
        (Refused(CODES.CANCELLED), True),
        (Refused(CODES.RESOURCE_EXHAUSTED, info("LIMIT")), False),
        (
            Refused(
                CODES.RESOURCE_EXHAUSTED,
                info("OVERLOADED"),
                error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=2)),
            ),
            True,
        ),
        (Refused(CODES.ABORTED, info("HEAD_MOVED")), False),
        (Refused(CODES.DEADLINE_EXCEEDED), False),
        (Refused(CODES.UNKNOWN, raw=b"\xff"), True),
    ],
)
def test_what_passes(refused: Refused, passes: bool) -> None:
    assert errors.error_of(refused).passing is passes


def test_pauses_grow_are_drawn_and_end_with_the_time() -> None:
    retries, gone = Retries(first=0.1, most=1.0), errors.error_of(Refused(CODES.UNAVAILABLE))
    most = [retries.pause(attempt, gone, 60.0, lambda: 0.999_999) for attempt in range(6)]
    assert most == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0, 1.0], rel=1e-3)
    assert retries.pause(0, gone, 60.0, lambda: 0.0) == pytest.approx(0.05)
    assert retries.pause(5_000, gone, 60.0, lambda: 0.0) == pytest.approx(0.5)
    assert retries.pause(4, gone, 0.4, lambda: 0.0) is None
    retry = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=3))
    busy = errors.error_of(Refused(CODES.RESOURCE_EXHAUSTED, info("OVERLOADED"), retry))
    assert retries.pause(0, busy, 60.0, lambda: 0.0) == 3.0
    assert retries.pause(0, busy, 2.0, lambda: 0.0) is None


def test_a_request_gets_an_id_when_it_needs_one() -> None:
    given = floor_service_pb2.AppendFloorRequest(session_id="s")
    sent = with_request_id(given)
    assert sent.request_id != ""
    assert (given.request_id, sent.session_id) == ("", "s")
    assert with_request_id(sent) is sent
    read = session_service_pb2.GetSessionRequest(session_id="s")
    assert with_request_id(read) is read


def test_a_watcher_waits_for_a_service_that_was_there_until_now() -> None:
    """A quiet feed is no service that is away: its patience begins when the connection breaks."""
    now = [0.0]
    times, place = Times(lambda: now[0], 300.0), FeedPlace("default", 0)
    gone = errors.error_of(Refused(CODES.UNAVAILABLE))
    place.seconds(times)
    now[0] = 3_000.0
    assert not place.goes_on(gone, times)
    assert times.left() == 300.0
    place.seconds(times)
    now[0] = 3_001.0
    assert not place.goes_on(gone, times)
    assert times.left() == 299.0
