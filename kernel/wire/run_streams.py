"""The streams of runs, which both services serve in the same way."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from stemma.kernel.v1 import run_pb2

from kernel.generation.events import NOWHERE, Position
from kernel.rpc.call import Call
from kernel.runs.respond import Responding
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.runs.watch import Watch
from kernel.verbs.env import Env
from kernel.wire.frames import frame_pb

Events = AsyncGenerator[run_pb2.RunEvent, None]


class RunStreams:
    """A servicer's, which has these three."""

    _env: Env
    _generation: Generation
    _tail: RunTail

    async def responding(self, run: Responding, call: Call, *, ends_with_caller: bool) -> Events:
        """The frames of a run that the call asked for. With `ends_with_caller`, and when this call has
        started it, a client that goes away before the end cancels it, and what was written is kept."""
        finished = False
        try:
            async with aclosing(self.attached(run, call, NOWHERE, ended_whole=False)) as events:
                async for event in events:
                    yield event
            finished = True
        finally:
            if ends_with_caller and not finished and run.live is not None:
                run.live.cancel(keep=True)

    async def attached(
        self, run: Responding, call: Call, after: Position, *, ended_whole: bool = True
    ) -> Events:
        """The frames after a position; see `Watch`."""
        watch = Watch(
            self._env,
            self._generation,
            self._tail,
            call.identity.tenant_id,
            run.run.run_id,
            after,
            accepted=call.accept,
            ended_whole=ended_whole,
        )
        async with aclosing(watch.frames(run.live)) as frames:
            async for frame in frames:
                yield frame_pb(run.run.run_id, run.run.floor_id, run.before, run.last_input, frame)
