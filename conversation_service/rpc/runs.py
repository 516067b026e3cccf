"""RunService."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from stemma.conversation.v1 import run_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from conversation_service.rpc.tool_results import ToolResults
from kernel.errors import NotFound
from kernel.generation.events import Position
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, run_position, uuid_field
from kernel.runs import control
from kernel.runs.respond import Input, Wish, respond, watched
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.tools.views import waiting_of
from kernel.verbs.env import Env
from kernel.wire.frames import waiting_run_pb
from kernel.wire.requests import caller_of, config_of, target_of, write_of
from kernel.wire.run_requests import action_of, candidates_of
from kernel.wire.run_streams import RunStreams
from kernel.wire.trees import floor_pb, maybe_branch_pb, run_pb


class Runs(ToolResults, RunStreams):
    def __init__(self, env: Env, generation: Generation, tail: RunTail) -> None:
        self._env = env
        self._generation = generation
        self._tail = tail

    async def respond(self, request: pb.RespondRequest, call: Call) -> AsyncIterator[pb.RespondResponse]:
        write = write_of(request, call)
        action = action_of(request)
        target = target_of(request, session_optional=not isinstance(action, Input))
        wish = Wish(
            config_of(request.overrides, "overrides", self._generation.providers, call),
            candidates_of(request),
            request.hold,
            request.cancel_on_disconnect,
        )
        run = await respond(self._env, self._generation, write, target, action, wish)
        stream = self.responding(run, call, ends_with_caller=request.cancel_on_disconnect)
        async with aclosing(stream) as events:
            async for event in events:
                yield pb.RespondResponse(event=event)

    async def attach_run(
        self, request: pb.AttachRunRequest, call: Call
    ) -> AsyncIterator[pb.AttachRunResponse]:
        run_id = uuid_field(request.run_id, "run_id")
        after = Position(*run_position(request.after, "after"))
        run = await watched(self._env, caller_of(call).tenant_id, run_id)
        async with aclosing(self.attached(run, call, after)) as events:
            async for event in events:
                yield pb.AttachRunResponse(event=event)

    async def get_run(self, request: pb.GetRunRequest, call: Call) -> pb.GetRunResponse:
        run_id = uuid_field(request.run_id, "run_id")
        async with self._env.store.reading(caller_of(call).tenant_id) as tx:
            run = await tx.run(run_id)
            if run is None:
                raise NotFound("run")
            return pb.GetRunResponse(run=waiting_run_pb(run, await waiting_of(tx, run)))

    async def cancel_run(self, request: pb.CancelRunRequest, call: Call) -> pb.CancelRunResponse:
        write, run_id = write_of(request, call), uuid_field(request.run_id, "run_id")
        keep = enum_field(request.keep, run_pb2.Keep, "keep", run_pb2.KEEP_COMMIT) == run_pb2.KEEP_COMMIT
        run, done = await control.cancel_run(self._env, self._generation, self._tail, write, run_id, keep)
        assert done.shown is not None
        return pb.CancelRunResponse(
            run=run_pb(run), floor=floor_pb(done.shown), branch=maybe_branch_pb(done.branch)
        )
