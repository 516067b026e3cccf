"""RunService."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from stemma.conversation.v1 import run_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from conversation_service.rpc.common import caller_of, config_of, content_of, target_of, write_of
from conversation_service.rpc.tool_results import ToolResults, waiting_run_pb
from kernel.errors import NotFound, invalid
from kernel.generation.events import NOWHERE, Frame, Position
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, run_position, text_field, uuid_field
from kernel.runs import control
from kernel.runs.plan import Candidate
from kernel.runs.respond import (
    Action,
    Edited,
    Input,
    Regenerated,
    Responding,
    Resumed,
    Wish,
    respond,
    watched,
)
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.runs.watch import Watch
from kernel.tools.views import waiting_of
from kernel.verbs.env import Env
from kernel.wire.frames import frame_pb
from kernel.wire.trees import floor_pb, maybe_branch_pb, run_pb

_MAX_CANDIDATES, _MAX_INSTRUCTION, _MAX_MODEL = 8, 16_384, 128


class Runs(ToolResults):
    def __init__(self, env: Env, generation: Generation, tail: RunTail) -> None:
        self._env = env
        self._generation = generation
        self._tail = tail

    async def respond(self, request: pb.RespondRequest, call: Call) -> AsyncIterator[pb.RespondResponse]:
        write = write_of(request, call)
        action = _action(request)
        target = target_of(request, session_optional=not isinstance(action, Input))
        wish = Wish(
            config_of(request.overrides, "overrides", self._generation.providers, call),
            _candidates(request),
            request.hold,
            request.cancel_on_disconnect,
        )
        run = await respond(self._env, self._generation, write, target, action, wish)
        run_id = run.run.run_id
        finished = False
        try:
            watch = self._watch(call, run_id, NOWHERE, ended_whole=False)
            async with aclosing(watch.frames(run.live)) as frames:
                async for frame in frames:
                    yield pb.RespondResponse(event=_event(run, frame))
            finished = True
        finally:
            if request.cancel_on_disconnect and not finished and run.live is not None:
                run.live.cancel(keep=True)

    async def attach_run(
        self, request: pb.AttachRunRequest, call: Call
    ) -> AsyncIterator[pb.AttachRunResponse]:
        run_id = uuid_field(request.run_id, "run_id")
        after = Position(*run_position(request.after, "after"))
        run = await watched(self._env, caller_of(call).tenant_id, run_id)
        async with aclosing(self._watch(call, run_id, after).frames()) as frames:
            async for frame in frames:
                yield pb.AttachRunResponse(event=_event(run, frame))

    def _watch(self, call: Call, run_id: str, after: Position, *, ended_whole: bool = True) -> Watch:
        tenant_id = caller_of(call).tenant_id
        return Watch(
            self._env,
            self._generation,
            self._tail,
            tenant_id,
            run_id,
            after,
            accepted=call.accept,
            ended_whole=ended_whole,
        )

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


def _event(run: Responding, frame: Frame) -> run_pb2.RunEvent:
    return frame_pb(run.run.run_id, run.run.floor_id, run.before, run.last_input, frame)


def _action(request: pb.RespondRequest) -> Action:
    match request.WhichOneof("action"):
        case "input":
            return Input(content_of(request.input.messages, "input.messages"))
        case "edit":
            floor_id = uuid_field(request.edit.floor_id, "edit.floor_id")
            content = content_of(request.edit.messages, "edit.messages", required=True)
            assert content is not None
            return Edited(floor_id, content)
        case "regenerate":
            return Regenerated(uuid_field(request.regenerate.floor_id, "regenerate.floor_id"))
        case "resume":
            return Resumed(uuid_field(request.resume.floor_id, "resume.floor_id"))
        case _:
            raise invalid("action", "one of input, edit, regenerate and resume is required")


def _candidates(request: pb.RespondRequest) -> tuple[Candidate, ...]:
    if not 0 <= request.candidate_count <= _MAX_CANDIDATES:
        raise invalid("candidate_count", f"must be 0 to {_MAX_CANDIDATES}")
    if len(request.candidates) > _MAX_CANDIDATES:
        raise invalid("candidates", f"at most {_MAX_CANDIDATES}")
    if request.candidate_count and request.candidates:
        raise invalid("candidates", "not together with candidate_count")
    if not request.candidates:
        return (Candidate(),) * max(1, request.candidate_count)
    return tuple(_candidate(given, f"candidates[{i}]") for i, given in enumerate(request.candidates))


def _candidate(given: pb.Candidate, field: str) -> Candidate:
    temperature = given.temperature if given.HasField("temperature") else None
    if temperature is not None and not 0 <= temperature <= 2:
        raise invalid(f"{field}.temperature", "must be from 0 to 2")
    return Candidate(
        instruction=text_field(given.instruction, f"{field}.instruction", maximum=_MAX_INSTRUCTION),
        temperature=temperature,
        model=text_field(given.model, f"{field}.model", maximum=_MAX_MODEL),
    )
