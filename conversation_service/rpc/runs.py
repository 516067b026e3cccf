"""RunService."""

from collections.abc import AsyncIterator

from stemma.conversation.v1 import run_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from kernel.errors import Unavailable, Unimplemented, invalid
from kernel.generation.events import Frame
from kernel.generation.live import RunLost
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, uuid_field
from kernel.runs import control
from kernel.runs.respond import (
    Action,
    Edited,
    Generation,
    Input,
    Regenerated,
    Responding,
    Resumed,
    respond,
)
from kernel.verbs.env import Env
from kernel.wire.frames import frame_pb
from kernel.wire.requests import caller_of, config_of, content_of, target_of, write_of
from kernel.wire.trees import floor_pb, maybe_branch_pb, run_pb

_MAX_CANDIDATES = 8


class Runs:
    def __init__(self, env: Env, generation: Generation) -> None:
        self._env = env
        self._generation = generation

    async def respond(self, request: pb.RespondRequest, call: Call) -> AsyncIterator[pb.RespondResponse]:
        _refuse_not_yet(request)
        write = write_of(request, call)
        action = _action(request)
        target = target_of(request, session_optional=not isinstance(action, Input))
        overrides = config_of(request.overrides, "overrides", self._generation.providers)
        run = await respond(
            self._env,
            self._generation,
            write,
            target,
            action,
            overrides,
            ends_with_caller=request.cancel_on_disconnect,
        )
        finished = False
        try:
            async for frame in self._frames(run, call):
                yield pb.RespondResponse(
                    event=frame_pb(run.run_id, run.floor_id, run.before, run.last_input, frame)
                )
            finished = True
        finally:
            if request.cancel_on_disconnect and not finished and run.live is not None:
                run.live.cancel(keep=True)

    async def attach_run(
        self, request: pb.AttachRunRequest, call: Call
    ) -> AsyncIterator[pb.AttachRunResponse]:
        uuid_field(request.run_id, "run_id")
        raise Unimplemented("AttachRun")
        yield

    async def get_run(self, request: pb.GetRunRequest, call: Call) -> pb.GetRunResponse:
        run_id = uuid_field(request.run_id, "run_id")
        run = await control.get_run(self._env, caller_of(call), run_id)
        return pb.GetRunResponse(run=run_pb(run))

    async def cancel_run(self, request: pb.CancelRunRequest, call: Call) -> pb.CancelRunResponse:
        write, run_id = write_of(request, call), uuid_field(request.run_id, "run_id")
        keep = enum_field(request.keep, run_pb2.Keep, "keep", run_pb2.KEEP_COMMIT) == run_pb2.KEEP_COMMIT
        run, done = await control.cancel_run(self._env, self._generation, write, run_id, keep)
        assert done.shown is not None
        return pb.CancelRunResponse(
            run=run_pb(run), floor=floor_pb(done.shown), branch=maybe_branch_pb(done.branch)
        )

    async def _frames(self, run: Responding, call: Call) -> AsyncIterator[Frame]:
        if run.live is None:
            for frame in run.frames:
                yield frame
            return
        try:
            async for frame in run.live.subscribe():
                yield frame
        except RunLost:
            # NOT_FOUND when it was deleted with its session.
            await control.get_run(self._env, caller_of(call), run.run_id)
            raise Unavailable(
                "UNAVAILABLE", "The run was cut off: read the floor, or retry with the same request_id."
            ) from None


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


def _refuse_not_yet(request: pb.RespondRequest) -> None:
    if not 0 <= request.candidate_count <= _MAX_CANDIDATES or len(request.candidates) > _MAX_CANDIDATES:
        raise invalid("candidate_count", f"must be 0 to {_MAX_CANDIDATES}")
    if request.candidate_count and request.candidates:
        raise invalid("candidates", "not together with candidate_count")
    if request.candidate_count > 1 or request.candidates:
        raise Unimplemented("More than one candidate")
    if request.hold:
        raise Unimplemented("`hold`")
