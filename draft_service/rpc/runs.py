"""DraftService: runs in a draft, as RunService has them for a branch of a session."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from draft_service.app.floors import check_run
from draft_service.app.world import World
from draft_service.domain.narrowing import check_narrowed
from draft_service.rpc.checks import seen_draft_id, target_of
from draft_service.rpc.shown import in_draft
from kernel.generation.events import Position
from kernel.prompt.config import Config
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, run_position, uuid_field
from kernel.runs import control
from kernel.runs.respond import Wish, respond, watched
from kernel.runs.start import Generation
from kernel.runs.submit import submit
from kernel.runs.tail import RunTail
from kernel.tools.views import waiting_of
from kernel.verbs import configs
from kernel.verbs.env import known_session
from kernel.wire.frames import waiting_run_pb
from kernel.wire.requests import caller_of, config_of, write_of
from kernel.wire.run_requests import action_of, answers_of, candidates_of
from kernel.wire.run_streams import RunStreams
from kernel.wire.trees import floor_pb, maybe_branch_pb, run_pb


class Runs(RunStreams):
    def __init__(self, world: World, generation: Generation, tail: RunTail) -> None:
        self._world = world
        self._env = world.env
        self._generation = generation
        self._tail = tail

    async def respond(self, request: pb.RespondRequest, call: Call) -> AsyncIterator[pb.RespondResponse]:
        write, action, target = write_of(request, call), action_of(request), target_of(request)
        overrides = config_of(request.overrides, "overrides", self._generation.providers, call)
        wish = Wish(overrides, candidates_of(request), request.hold, request.cancel_on_disconnect)
        draft_id = await seen_draft_id(self._world, request, call)
        await self._narrowed(call, draft_id, overrides)
        run = await respond(self._env, self._generation, write, target, action, wish)
        stream = self.responding(run, call, ends_with_caller=request.cancel_on_disconnect)
        async with aclosing(stream) as events:
            async for event in events:
                yield pb.RespondResponse(event=event)

    async def attach_run(
        self, request: pb.AttachRunRequest, call: Call
    ) -> AsyncIterator[pb.AttachRunResponse]:
        run_id = await self._known(request, call)
        after = Position(*run_position(request.after, "after"))
        run = await watched(self._env, call.identity.tenant_id, run_id)
        async with aclosing(self.attached(run, call, after)) as events:
            async for event in events:
                yield pb.AttachRunResponse(event=event)

    async def get_run(self, request: pb.GetRunRequest, call: Call) -> pb.GetRunResponse:
        run_id = await self._known(request, call)
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            run = await tx.run(run_id)
            assert run is not None, "a run that was found stays"
            return pb.GetRunResponse(run=in_draft(waiting_run_pb(run, await waiting_of(tx, run))))

    async def cancel_run(self, request: pb.CancelRunRequest, call: Call) -> pb.CancelRunResponse:
        write, run_id = write_of(request, call), await self._known(request, call)
        keep = enum_field(request.keep, run_pb2.Keep, "keep", run_pb2.KEEP_COMMIT) == run_pb2.KEEP_COMMIT
        run, done = await control.cancel_run(self._env, self._generation, self._tail, write, run_id, keep)
        assert done.shown is not None
        return pb.CancelRunResponse(
            run=in_draft(run_pb(run)), floor=floor_pb(done.shown), branch=maybe_branch_pb(done.branch)
        )

    async def submit_tool_results(
        self, request: pb.SubmitToolResultsRequest, call: Call
    ) -> pb.SubmitToolResultsResponse:
        write, answers = write_of(request, call), answers_of(request)
        run_id = await self._known(request, call)
        done = await submit(self._env, self._generation, write, run_id, *answers)
        return pb.SubmitToolResultsResponse(run=in_draft(waiting_run_pb(done.run, done.waiting)))

    async def _known(
        self,
        request: pb.AttachRunRequest | pb.GetRunRequest | pb.CancelRunRequest | pb.SubmitToolResultsRequest,
        call: Call,
    ) -> str:
        """The id of a run of the request's draft, which is there for this caller."""
        run_id = uuid_field(request.run_id, "run_id")
        draft_id = await seen_draft_id(self._world, request, call)
        await check_run(self._env, caller_of(call), draft_id, run_id)
        return run_id

    async def _narrowed(self, call: Call, draft_id: str, overrides: Config) -> None:
        if not overrides.tools:
            return
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            effective = await configs.of_session(tx, await known_session(tx, draft_id))
        check_narrowed(overrides, effective.config.tools, "overrides")
