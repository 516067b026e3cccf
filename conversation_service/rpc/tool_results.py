"""RunService: what a run waits for."""

from collections import Counter
from collections.abc import Iterator

from stemma.conversation.v1 import run_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from conversation_service.rpc.common import write_of
from kernel.errors import Invalid, Violation
from kernel.generation.events import RequiresAction
from kernel.rpc.call import Call
from kernel.rpc.checks import Gather, reason, text_field, uuid_field
from kernel.runs.start import Generation
from kernel.runs.submit import Decision, Output, submit
from kernel.verbs.env import Env
from kernel.verbs.records import Run
from kernel.wire.frames import requires_action_pb
from kernel.wire.trees import run_pb

# Of each list: no run makes more calls.
_MAX_ANSWERS, _MAX_ID = 1_000, 256
# What a request may hold; a result of more than 1 MiB is refused by the rule.
_MAX_CONTENT = 4 * 1024 * 1024


class ToolResults:
    _env: Env
    _generation: Generation

    async def submit_tool_results(
        self, request: pb.SubmitToolResultsRequest, call: Call
    ) -> pb.SubmitToolResultsResponse:
        write, run_id = write_of(request, call), uuid_field(request.run_id, "run_id")
        if found := list(_faults(request)):
            raise Invalid(*found)
        with Gather() as check:
            results = [check(_output, given, f"results[{n}]") for n, given in enumerate(request.results)]
            approvals = [
                check(_decision, given, f"approvals[{n}]") for n, given in enumerate(request.approvals)
            ]
        done = await submit(self._env, self._generation, write, run_id, results, approvals)
        return pb.SubmitToolResultsResponse(run=waiting_run_pb(done.run, done.waiting))


def waiting_run_pb(run: Run, waiting: RequiresAction | None) -> run_pb2.Run:
    """A run with what it waits for."""
    shown = run_pb(run)
    if waiting is not None:
        shown.requires_action.CopyFrom(requires_action_pb(waiting))
    return shown


def _faults(request: pb.SubmitToolResultsRequest) -> Iterator[Violation]:
    if not request.results and not request.approvals:
        yield Violation("results", "or approvals are required")
    for name in ("results", "approvals"):
        given = getattr(request, name)
        if len(given) > _MAX_ANSWERS:
            yield Violation(name, f"has at most {_MAX_ANSWERS:,} entries")
        elif any(count > 1 for count in Counter(one.call_id for one in given).values()):
            yield Violation(name, "names each call once")


def _output(given: pb.ToolOutput, field: str) -> Output:
    with Gather() as check:
        call_id = check(text_field, given.call_id, f"{field}.call_id", maximum=_MAX_ID, required=True)
        content = check(text_field, given.content, f"{field}.content", maximum=_MAX_CONTENT)
    return Output(call_id, content, given.is_error)


def _decision(given: pb.ToolApprovalDecision, field: str) -> Decision:
    with Gather() as check:
        call_id = check(text_field, given.call_id, f"{field}.call_id", maximum=_MAX_ID, required=True)
        why = check(reason, given.reason, f"{field}.reason")
    return Decision(call_id, given.approve, why)
