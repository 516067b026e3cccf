"""The synchronous client: errors as the service means them, and a run whose connection breaks."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import grpc
import grpc_testing
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import run_service_pb2, session_service_pb2
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2
from stemma_cli.chat import frames as frames_module
from stemma_cli.chat.frames import ConnectionLost, frames
from stemma_cli.client import Client
from stemma_cli.errors import ApiError

RUNS = run_service_pb2.DESCRIPTOR.services_by_name["RunService"]
SESSIONS = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
RESPOND, ATTACH, CANCEL = (RUNS.methods_by_name[name] for name in ("Respond", "AttachRun", "CancelRun"))
GET_SESSION = SESSIONS.methods_by_name["GetSession"]
SECONDS = 10.0


class FakeService:
    """The other end of a channel, played by the test. `reachable` is what a lost connection finds."""

    def __init__(self) -> None:
        time = grpc_testing.strict_real_time()
        self.channel = grpc_testing.channel([RUNS, SESSIONS], time)
        self.client = Client(self.channel, "here:1")
        self.client.silence = 0.0
        self.reachable = True
        self.client.wait_until_reachable = lambda seconds: self.reachable  # type: ignore[method-assign]
        self._pool = ThreadPoolExecutor(1)

    def do(self, call: Any, *arguments: Any) -> Future[Any]:
        """Makes the client's call in another thread; the test answers it meanwhile."""
        return self._pool.submit(call, *arguments)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeService]:
    monkeypatch.setattr(frames_module, "_PAUSE", 0.0)
    service = FakeService()
    yield service
    service._pool.shutdown(cancel_futures=True)


def status_trailers(code: int, message: str, *details: Any) -> list[tuple[str, bytes]]:
    packed = []
    for detail in details:
        one = any_pb2.Any()
        one.Pack(detail)
        packed.append(one)
    status = status_pb2.Status(code=code, message=message, details=packed)
    return [("grpc-status-details-bin", status.SerializeToString())]


def refused(
    fake: FakeService, code: grpc.StatusCode, trailers: list[tuple[str, bytes]], text: str
) -> ApiError:
    waiting = fake.do(fake.client.get_session, "id")
    _, _, rpc = fake.channel.take_unary_unary(GET_SESSION)
    rpc.terminate(session_service_pb2.GetSessionResponse(), trailers, code, text)
    with pytest.raises(ApiError) as caught:
        waiting.result(SECONDS)
    return caught.value


def test_a_refusal_has_its_reason_metadata_and_the_services_own_sentence(fake: FakeService) -> None:
    info = error_details_pb2.ErrorInfo(reason="HEAD_MOVED", domain="stemma", metadata={"current_head": "x"})
    error = refused(fake, grpc.StatusCode.ABORTED, status_trailers(10, "The head moved.", info), "unused")
    assert (error.code, error.reason, error.metadata) == (
        grpc.StatusCode.ABORTED,
        "HEAD_MOVED",
        {"current_head": "x"},
    )
    assert error.message == "The head moved. (HEAD_MOVED)"
    assert error.reached


def test_a_field_at_fault_is_named(fake: FakeService) -> None:
    info = error_details_pb2.ErrorInfo(reason="INVALID", domain="stemma")
    bad = error_details_pb2.BadRequest()
    bad.field_violations.add(field="session_id", description="must be a UUID")
    error = refused(fake, grpc.StatusCode.INVALID_ARGUMENT, status_trailers(3, "…", info, bad), "unused")
    assert error.message == "session_id: must be a UUID (INVALID)"
    assert error.status.code == 3


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (grpc.StatusCode.UNAVAILABLE, "No conversation service answers at here:1. Start it with `stemma up`"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "here:1 did not answer in time."),
        (grpc.StatusCode.UNIMPLEMENTED, "What answers at here:1 is no conversation service (UNIMPLEMENTED)"),
    ],
)
def test_what_is_no_stemma_is_told_apart(fake: FakeService, code: grpc.StatusCode, told: str) -> None:
    error = refused(fake, code, [], "words of some library")
    assert error.message.startswith(told)
    assert "library" not in error.message
    assert not error.reached


def test_a_service_that_is_busy_is_asked_again_with_the_same_request(fake: FakeService) -> None:
    waiting = fake.do(fake.client.cancel_run, "run")
    info = error_details_pb2.ErrorInfo(reason="OVERLOADED", domain="stemma")
    retry = error_details_pb2.RetryInfo(retry_delay={"nanos": 1_000_000})
    _, first, busy = fake.channel.take_unary_unary(CANCEL)
    busy.terminate(None, status_trailers(8, "…", info, retry), grpc.StatusCode.RESOURCE_EXHAUSTED, "")
    _, again, rpc = fake.channel.take_unary_unary(CANCEL)
    assert again == first
    assert first.request_id
    rpc.terminate(run_service_pb2.CancelRunResponse(run={"run_id": "run"}), (), grpc.StatusCode.OK, "")
    assert waiting.result(SECONDS).run.run_id == "run"


def test_a_service_that_stays_busy_is_told_of(fake: FakeService) -> None:
    fake.client.patience = 0.0
    info = error_details_pb2.ErrorInfo(reason="UNAVAILABLE", domain="stemma")
    error = refused(fake, grpc.StatusCode.UNAVAILABLE, status_trailers(14, "It stops.", info), "unused")
    assert error.message == "It stops. (UNAVAILABLE)"


# A run over a connection that breaks.


def event(seq: int, **kind: Any) -> run_pb2.RunEvent:
    return run_pb2.RunEvent(run_id="run", floor_id="floor", epoch=1, seq=seq, **kind)


STARTED = event(1, started=run_pb2.RunStarted(tokens_in=3))
ONE = event(2, text_delta=run_pb2.TextDelta(text="one "))
TWO = event(3, text_delta=run_pb2.TextDelta(text="two"))
PAGE = event(
    4,
    page_completed=run_pb2.PageCompleted(
        page=message_pb2.Page(messages=[{"role": 3, "parts": [{"text": {"text": "one two"}}]}])
    ),
)
COMMITTED = event(5, floor_committed=run_pb2.FloorCommitted(floor=floor_pb2.Floor(floor_id="floor")))


class Run:
    """`frames` in another thread, and the calls that it makes."""

    def __init__(self, fake: FakeService, patience: float = SECONDS) -> None:
        self.fake = fake
        self.lost = 0
        self.given_up = threading.Event()
        self.request = run_service_pb2.RespondRequest(request_id=str(uuid.uuid4()))
        self._given: SimpleQueue[run_pb2.RunEvent] = SimpleQueue()
        self._seen: run_pb2.RunEvent | None = None
        self.got = fake.do(self._all, patience)

    def _all(self, patience: float) -> list[run_pb2.RunEvent]:
        given = []
        for one in frames(
            self.fake.client,
            self.request,
            on_lost=self._count_lost,
            given_up=self.given_up,
            patience=patience,
        ):
            given.append(one)
            self._given.put(one)
        return given

    def _count_lost(self) -> None:
        self.lost += 1

    def take(self) -> tuple[Any, Any]:
        """The next call, and the class of its answers."""
        if self._seen is None:
            _, request, rpc = self.fake.channel.take_unary_stream(RESPOND)
            assert request == self.request
            return rpc, run_service_pb2.RespondResponse
        _, request, rpc = self.fake.channel.take_unary_stream(ATTACH)
        after = f"{self._seen.epoch}.{self._seen.seq}"
        assert request == run_service_pb2.AttachRunRequest(run_id="run", after=after)
        return rpc, run_service_pb2.AttachRunResponse

    def answer(
        self,
        *events: run_pb2.RunEvent,
        then: grpc.StatusCode = grpc.StatusCode.OK,
        before_the_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Takes the next call, answers it, and ends it once the frames have come through: an end overtakes
        what is unread. It must be the same request until a frame has come, and then go on after the last."""
        rpc, response = self.take()
        for one in events:
            rpc.send_response(response(event=one))
            self._seen = one
            assert self._given.get(timeout=SECONDS) == one
        before_the_end()
        rpc.terminate([], then, "")


def test_a_broken_run_is_joined_and_gives_each_frame_once(fake: FakeService) -> None:
    run = Run(fake)
    run.answer(STARTED, ONE, then=grpc.StatusCode.UNAVAILABLE)
    run.answer(then=grpc.StatusCode.UNAVAILABLE)
    run.answer(TWO, PAGE, COMMITTED)
    assert run.got.result(SECONDS) == [STARTED, ONE, TWO, PAGE, COMMITTED]
    assert run.lost == 2


def test_before_the_first_frame_the_request_is_repeated(fake: FakeService) -> None:
    run = Run(fake)
    run.answer(then=grpc.StatusCode.UNAVAILABLE)
    run.answer(STARTED, PAGE, COMMITTED)
    assert run.got.result(SECONDS) == [STARTED, PAGE, COMMITTED]


def test_a_run_that_waits_ends_its_stream(fake: FakeService) -> None:
    waits = event(2, requires_action=run_pb2.RequiresAction(kind=run_pb2.ACTION_KIND_RESULT))
    run = Run(fake)
    run.answer(STARTED, waits)
    assert run.got.result(SECONDS) == [STARTED, waits]
    assert run.lost == 0


def test_a_run_that_ended_meanwhile_gives_its_last_frames(fake: FakeService) -> None:
    run = Run(fake)
    run.answer(STARTED, ONE, then=grpc.StatusCode.INTERNAL)
    run.answer(PAGE, COMMITTED)
    assert run.got.result(SECONDS) == [STARTED, ONE, PAGE, COMMITTED]


def test_a_run_that_died_with_its_server_goes_on_in_its_next_epoch(fake: FakeService) -> None:
    reset = event(1, reset=run_pb2.RunReset())
    crashed = event(2, failed=run_pb2.RunFailed(code=14, reason="CRASHED"))
    reset.epoch = crashed.epoch = 2
    run = Run(fake)
    run.answer(STARTED, ONE, TWO, then=grpc.StatusCode.UNAVAILABLE)
    run.answer(reset, crashed)
    assert run.got.result(SECONDS) == [STARTED, ONE, TWO, reset, crashed]


def test_a_stream_that_ends_without_a_last_frame_is_asked_again(fake: FakeService) -> None:
    run = Run(fake)
    run.answer(STARTED)
    run.answer(PAGE, COMMITTED)
    assert run.got.result(SECONDS) == [STARTED, PAGE, COMMITTED]


def test_a_refusal_is_final(fake: FakeService) -> None:
    run = Run(fake)
    _, _, rpc = fake.channel.take_unary_stream(RESPOND)
    info = error_details_pb2.ErrorInfo(reason="FLOOR_PENDING", domain="stemma")
    rpc.terminate(status_trailers(9, "There is one.", info), grpc.StatusCode.FAILED_PRECONDITION, "")
    with pytest.raises(ApiError, match="There is one"):
        run.got.result(SECONDS)
    assert run.lost == 0


def test_a_connection_that_does_not_come_back_is_given_up(fake: FakeService) -> None:
    fake.reachable = False
    run = Run(fake)
    run.answer(STARTED, ONE, then=grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(ConnectionLost, match="may have been written all the same: /tree shows it"):
        run.got.result(SECONDS)


def test_a_server_that_never_gets_further_is_given_up(fake: FakeService) -> None:
    run = Run(fake, patience=0.0)
    run.answer(then=grpc.StatusCode.UNAVAILABLE)
    with pytest.raises(ConnectionLost):
        run.got.result(SECONDS)


def test_who_no_longer_waits_does_not_ask_again(fake: FakeService) -> None:
    run = Run(fake)
    run.answer(STARTED, then=grpc.StatusCode.UNAVAILABLE, before_the_end=run.given_up.set)
    assert run.got.result(SECONDS) == [STARTED]
    assert run.lost == 0
