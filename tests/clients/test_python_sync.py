"""The synchronous client, with its other end played by the test (grpcio-testing)."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import grpc
import grpc_testing
import pytest
from stemma.conversation.v1 import event_service_pb2, run_service_pb2, session_service_pb2
from stemma.kernel.v1 import run_pb2
from stemma_client import Retries, Stemma, errors
from stemma_client.requests import CONVERSATION

SECONDS = 10.0
RUNS, SESSIONS, EVENTS = (CONVERSATION[name] for name in ("runs", "sessions", "events"))
CREATE, RESPOND, ATTACH, WATCH = (
    SESSIONS.methods_by_name["CreateSession"],
    RUNS.methods_by_name["Respond"],
    RUNS.methods_by_name["AttachRun"],
    EVENTS.methods_by_name["WatchEvents"],
)


class Played:
    """A client whose channel the test answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.channel = grpc_testing.channel(CONVERSATION.values(), grpc_testing.strict_real_time())
        monkeypatch.setattr(grpc, "insecure_channel", lambda address, options: self.channel)
        self.client = Stemma("here:1", api_key="k", retries=Retries(first=0.001, most=0.001))
        self._pool = ThreadPoolExecutor(1)

    def do(self, call: Any, *arguments: Any) -> Future[Any]:
        return self._pool.submit(call, *arguments)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    made = Played(monkeypatch)
    yield made
    made.close()


def frame(seq: int, **event: Any) -> run_service_pb2.RespondResponse:
    return run_service_pb2.RespondResponse(event=run_pb2.RunEvent(run_id="r", epoch=1, seq=seq, **event))


def attached(answer: run_service_pb2.RespondResponse) -> run_service_pb2.AttachRunResponse:
    return run_service_pb2.AttachRunResponse(event=answer.event)


def test_a_write_keeps_its_request_id_through_every_retry(played: Played) -> None:
    asked = session_service_pb2.CreateSessionRequest(title="Apples")
    answer = played.do(played.client.sessions.CreateSession, asked)
    seen = []
    for code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, grpc.StatusCode.OK):
        metadata, request, rpc = played.channel.take_unary_unary(CREATE)
        assert ("authorization", "Bearer k") in metadata
        seen.append(request.request_id)
        rpc.send_initial_metadata(())
        rpc.terminate(session_service_pb2.CreateSessionResponse(), (), code, "")
    assert isinstance(answer.result(SECONDS), session_service_pb2.CreateSessionResponse)
    assert len(seen) == 3
    assert len({*seen}) == 1
    assert seen[0]


def test_a_refusal_is_raised_at_once(played: Played) -> None:
    answer = played.do(played.client.sessions.CreateSession, session_service_pb2.CreateSessionRequest())
    _, _, rpc = played.channel.take_unary_unary(CREATE)
    rpc.send_initial_metadata(())
    rpc.terminate(None, (), grpc.StatusCode.NOT_FOUND, "no such project")
    with pytest.raises(errors.NotFound):
        answer.result(SECONDS)


def test_a_run_goes_on_after_the_last_frame_that_came(played: Played) -> None:
    seen: SimpleQueue[run_pb2.RunEvent] = SimpleQueue()
    request = run_service_pb2.RespondRequest(session_id="s")
    done = played.do(lambda: [seen.put(event) for event in played.client.respond(request)])
    _, first, lost = played.channel.take_unary_stream(RESPOND)
    lost.send_initial_metadata(())
    lost.terminate((), grpc.StatusCode.UNAVAILABLE, "")
    _, again, cut = played.channel.take_unary_stream(RESPOND)
    assert again.request_id == first.request_id
    cut.send_initial_metadata(())
    cut.send_response(frame(1, started={}))
    cut.send_response(frame(2, text_delta={"text": "a"}))
    # This library drops what was not read when the error comes; a network does not.
    assert [seen.get(timeout=SECONDS).seq for _ in range(2)] == [1, 2]
    cut.terminate((), grpc.StatusCode.CANCELLED, "")
    _, rest, whole = played.channel.take_unary_stream(ATTACH)
    assert (rest.run_id, rest.after) == ("r", "1.2")
    whole.send_initial_metadata(())
    whole.send_response(attached(frame(3, floor_committed={})))
    whole.terminate((), grpc.StatusCode.OK, "")
    assert len(done.result(SECONDS)) == 3
    assert seen.get(timeout=SECONDS).seq == 3


def test_a_run_that_waits_ends_its_stream(played: Played) -> None:
    answer = played.do(lambda: list(played.client.attach("r", after="1.1")))
    _, _, rpc = played.channel.take_unary_stream(ATTACH)
    rpc.send_initial_metadata(())
    rpc.send_response(attached(frame(2, requires_action={})))
    rpc.terminate((), grpc.StatusCode.OK, "")
    assert [event.seq for event in answer.result(SECONDS)] == [2]


def test_a_feed_is_asked_again_when_a_stream_has_had_its_time(played: Played) -> None:
    seen: SimpleQueue[int] = SimpleQueue()

    def watch() -> None:
        events = played.client.watch("default", after=4)
        for _ in range(3):
            seen.put(next(events).position)
        events.close()

    done = played.do(watch)
    for position, code in (
        (5, grpc.StatusCode.DEADLINE_EXCEEDED),
        (6, grpc.StatusCode.UNAVAILABLE),
        (7, grpc.StatusCode.OK),
    ):
        _, request, rpc = played.channel.take_unary_stream(WATCH)
        assert request.after == position - 1
        rpc.send_initial_metadata(())
        rpc.send_response(event_service_pb2.WatchEventsResponse(event={"position": position}))
        assert seen.get(timeout=SECONDS) == position
        rpc.terminate((), code, "")
    done.result(SECONDS)


def test_without_its_address_the_draft_service_is_asked_for(played: Played) -> None:
    with pytest.raises(AttributeError, match="needs drafts=ADDRESS"):
        _ = played.client.drafts
