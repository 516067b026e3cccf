"""Runs inside a program: some end by themselves, some wait to be cancelled or swept away."""

from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from stemma.kernel.v1 import run_pb2

from tests.model.choices import ASSISTANT, USER
from tests.model.plans import HANGS
from tests.model.values import Floor, Msg
from tests.model.wire import Comparison
from tests.support.client import Client


@dataclass
class Waiting:
    """A run that stopped in the middle: its stream is open."""

    run_id: str
    stream: Any


class Runs:
    """The runs of one program. `waiting` holds those that have not ended, by their floor."""

    def __init__(self, client: Client, comparison: Comparison) -> None:
        self._client = client
        self._same = comparison
        self._model = comparison.model
        self.waiting: dict[int, Waiting] = {}

    async def respond(self, request: Message, floor: Floor) -> None:
        """`floor` is GENERATING in the model. Follows the run to its end, or to where it hangs."""
        asked = self._asked(floor)
        stream = self._client.stream("Respond", request)
        first = (await anext(aiter(stream))).event
        assert first.WhichOneof("event") == "started"
        self._same.floors.bind(floor.key, first.floor_id)
        if asked and asked[-1] in HANGS:
            await self._until(stream, HANGS[asked[-1]])
            self._receive(floor, HANGS[asked[-1]])
            self.waiting[floor.key] = Waiting(first.run_id, stream)
            return
        frames = [answer.event async for answer in stream]
        self._finished(floor, frames, asked)

    def _asked(self, floor: Floor) -> list[str]:
        """The texts of the user messages that this run sends."""
        return [m.text for m in self._model.context(floor.branch) if m.role == USER]

    def _finished(self, floor: Floor, frames: list[run_pb2.RunEvent], asked: list[str]) -> None:
        assert frames[-1].WhichOneof("event") == "floor_committed", frames[-1]
        shown = frames[-1].floor_committed
        text = "".join(frame.text_delta.text for frame in frames)
        listed = [f"{number}. {message}" for number, message in enumerate(asked, 1)]
        assert text.split("\n")[-len(asked) - 1 :] == [f"User messages I was sent: {len(asked)}", *listed]
        self._model.finish(floor.key, (Msg(ASSISTANT, text),))
        self._same.same_floor(floor, shown.floor)
        self._same.same_branch(self._model.branches[floor.branch], shown.branch)

    async def _until(self, stream: Any, said: str) -> None:
        text = ""
        while text != said:
            text += (await anext(aiter(stream))).event.text_delta.text

    def _receive(self, floor: Floor, said: str) -> None:
        if said:
            self._model.received[floor.key] = (Msg(ASSISTANT, said),)

    async def cancel(self, key: int, keep: bool) -> None:
        run = self.waiting[key]
        answer = await self._client.call("CancelRun", run_id=run.run_id, keep=1 if keep else 2)
        floor = self._model.cancel(key, keep)
        self._same.same_floor(floor, answer.floor)
        self._same.same_branch(self._model.branches[floor.branch], answer.branch)
        state = run_pb2.RunState.Value("RUN_STATE_CANCELLED")
        assert (answer.run.run_id, answer.run.state) == (run.run_id, state)
        await self.drain()

    async def drain(self) -> None:
        """Streams of runs that the model says are over must end, OK, with the frame that says how."""
        for key in [key for key in self.waiting if not self._model.floors[key].state.pending]:
            run = self.waiting.pop(key)
            frames = [answer.event async for answer in run.stream]
            assert frames[-1].WhichOneof("event") == "cancelled", frames[-1]
            self._same.same_floor(self._model.floors[key], frames[-1].cancelled.floor)

    async def stop(self) -> None:
        for key in list(self.waiting):
            await self.cancel(key, keep=True)
