"""Answers to the calls that a run waits for: results of the client's tools, decisions on others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kernel.errors import AlreadyExists, Exhausted, FailedPrecondition, NotFound
from kernel.generation.events import ActionKind, RequiresAction
from kernel.runs.control import refuse_ended
from kernel.runs.going import claim
from kernel.runs.start import Generation
from kernel.tools.calls import as_call, decided, done
from kernel.tools.views import waiting_calls
from kernel.verbs.env import Env, Write, WriteTx, writable
from kernel.verbs.records import Answer, CallState, RecordedCall, Run, RunState

# Of a client's result, in UTF-8: what one message may hold.
MAX_RESULT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a client's tool."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may act; `reason` in the words of whoever decides, or empty."""

    call_id: str
    approve: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Submitted:
    """The run as it was right after, and what it waited for still."""

    run: Run
    waiting: RequiresAction | None


async def submit(
    env: Env,
    generation: Generation,
    write: Write,
    run_id: str,
    results: Sequence[Output],
    approvals: Sequence[Decision],
) -> Submitted:
    """Takes all of it, decisions first, or nothing; when nothing waits any more the run goes on, here.

    Each call at most once in either list. NOT_FOUND for a call that the run did not make; ALREADY_EXISTS
    `ALREADY_DECIDED` for a second result or decision; RESOURCE_EXHAUSTED `LIMIT` for a result of more than
    1 MiB; FAILED_PRECONDITION for a call that waits for something else, and for a run that does not wait.
    """
    if any(len(result.content.encode()) > MAX_RESULT for result in results):
        raise Exhausted("LIMIT", "The result of a call takes at most 1 MiB.")
    session_id = await _session_of(env, write, run_id)

    async def attempt(tx: WriteTx) -> Submitted:
        session = await tx.lock_session(session_id)
        answer = await tx.answer(write.request)
        run = await tx.run(run_id)
        if session is None or run is None:
            raise NotFound("run")
        calls = await tx.tool_calls(run_id)
        if answer is None:
            writable(session)
            calls, changed = _answered(calls, results, approvals, write.caller.principal, env.clock())
            _refuse_not_waiting(run)
            await tx.update_calls(changed)
            waiting = waiting_calls(calls)
            if waiting is None:
                run = await claim(tx, env, generation, write.caller.tenant_id, run)
            answer = _answer(run, waiting)
            await tx.record(write.request, answer)
        return _as_then(run, calls, answer)

    return await env.store.write(write.caller.tenant_id, attempt, session_id)


async def _session_of(env: Env, write: Write, run_id: str) -> str:
    async with env.store.reading(write.caller.tenant_id) as tx:
        answer, run = await tx.answer(write.request), await tx.run(run_id)
    if answer is not None:
        return answer.session_id
    if run is None:
        raise NotFound("run")
    return run.session_id


def _answered(
    calls: Sequence[RecordedCall],
    results: Sequence[Output],
    approvals: Sequence[Decision],
    principal: str,
    now: datetime,
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """All calls as they are then, and those of them that were answered."""
    by_id = {call.call_id: call for call in calls}
    named = {decision.call_id for decision in approvals} | {result.call_id for result in results}
    if not named <= by_id.keys():
        raise NotFound("call of this run")
    for decision in approvals:
        call = by_id[decision.call_id]
        if call.decision:
            raise _already(call, call.decision)
        if call.state is not CallState.APPROVAL:
            raise _otherwise(call, "It needs no approval.")
        by_id[call.call_id] = decided(call, decision.approve, principal, decision.reason, now)
    for result in results:
        call = by_id[result.call_id]
        if call.state is CallState.DONE:
            raise _already(call, call.decision or call.state.value)
        if call.state is not CallState.RESULT:
            raise _otherwise(call, "It waits for no result; what needs approval is decided on first.")
        by_id[call.call_id] = done(call, result.content, result.is_error, now)
    return list(by_id.values()), [by_id[call.call_id] for call in calls if by_id[call.call_id] != call]


def _already(call: RecordedCall, state: str) -> AlreadyExists:
    return AlreadyExists(
        "ALREADY_DECIDED", "This call has been answered.", {"call_id": call.call_id, "state": state}
    )


def _otherwise(call: RecordedCall, why: str) -> FailedPrecondition:
    return FailedPrecondition("INVALID", why, {"call_id": call.call_id, "state": call.state.value})


def _refuse_not_waiting(run: Run) -> None:
    if run.state is RunState.RUNNING:
        raise FailedPrecondition(
            "RUN_ACTIVE",
            "The run does not wait: attach to it until it requires an action.",
            {"run_id": run.run_id, "state": run.state.value},
        )
    if run.state is not RunState.WAITING:
        raise refuse_ended(run)


def _answer(run: Run, waiting: RequiresAction | None) -> Answer:
    answer = Answer(run.session_id, run_id=run.run_id, run_epoch=run.epoch)
    if waiting is None:
        return answer
    ids = tuple(call.call_id for call in waiting.calls)
    return replace(answer, waits_for=waiting.kind.value, waiting_calls=ids)


def _as_then(run: Run, calls: Sequence[RecordedCall], answer: Answer) -> Submitted:
    """As the answer says: since then the run may have gone on, and ended."""
    state = RunState.WAITING if answer.waiting_calls else RunState.RUNNING
    then = replace(run, state=state, epoch=answer.run_epoch, last_seq=0, usage=None, failure_reason="")
    waiting = None
    if answer.waiting_calls:
        by_id = {call.call_id: as_call(call) for call in calls}
        found = tuple(by_id[call_id] for call_id in answer.waiting_calls)
        waiting = RequiresAction(found, ActionKind(answer.waits_for))
    return Submitted(replace(then, end_time=None, branch=None), waiting)
