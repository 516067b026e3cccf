"""The ledger: staging, reading, and deciding against. Accepting is in `accepting.py`.

Staging leaves the entry, its request and its event, and nothing else (D1, L1).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from conversation_service.app import policy
from conversation_service.app.projects import lock_known, project_id_of, writable_project
from conversation_service.domain.staged import is_on_head, versioned_scope
from kernel.errors import Aborted, FailedPrecondition, NotFound, invalid
from kernel.state.model import Scope
from kernel.verbs.env import Caller, Env, ReadTx, Write, WriteTx, session_of_floor, writable
from kernel.verbs.queries import known_floor
from kernel.verbs.records import Answer, Event, Project, Session
from kernel.verbs.staged_store import (
    Decision,
    Placement,
    StagedConfig,
    StagedFilter,
    StagedOrigin,
    StagedPart,
    StagedState,
    StagedTarget,
    StagedWrite,
)

KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class NewEntry:
    """Checked. `target.project_id` is as the caller wrote it, and empty with a session or a floor."""

    target: StagedTarget
    parts: tuple[StagedPart, ...]
    origin: StagedOrigin
    reason: str
    on_behalf_of: str


async def stage_write(env: Env, write: Write, new: NewEntry) -> StagedWrite:
    """The entry, for 30 days. NOT_FOUND for a target that there is not; ARCHIVED."""
    policy.may_stage(write.caller, new.on_behalf_of)
    if new.target.project_id:
        return await _stage_for_project(env, write, new)
    target = new.target
    if target.floor_id:
        session_id = await session_of_floor(env, write, target.floor_id, target.session_id)
        target = replace(target, session_id=session_id)

    async def attempt(tx: WriteTx) -> StagedWrite:
        session = await tx.lock_session(target.session_id)
        answer = await tx.answer(write.request)
        if session is None:
            raise NotFound("session")
        if answer is not None:
            return await entry_of(tx, answer)
        entry = await _for_session(tx, writable(session), target, new)
        return await _staged(tx, env, write, entry, new)

    return await env.store.write(write.caller.tenant_id, attempt, target.session_id)


async def _stage_for_project(env: Env, write: Write, new: NewEntry) -> StagedWrite:
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, new.target.project_id)

    async def attempt(tx: WriteTx) -> StagedWrite:
        project = await lock_known(tx, tenant_id, project_id, shared=True)
        answer = await tx.answer(write.request)
        if answer is not None:
            return await entry_of(tx, answer)
        origin = await _for_project(tx, writable_project(project), new)
        return await _staged(tx, env, write, (StagedTarget(project_id), origin), new)

    return await env.store.write(tenant_id, attempt, project_id)


async def _staged(
    tx: WriteTx, env: Env, write: Write, where: tuple[StagedTarget, StagedOrigin], new: NewEntry
) -> StagedWrite:
    target, origin = where
    now = env.clock()
    author = new.on_behalf_of or write.caller.principal
    # Who stages has been looked at; for whom, here.
    await tx.refuse_buried(author)
    entry = StagedWrite(env.new_id(), target, new.parts, origin, new.reason, author, now, now + KEPT)
    await tx.insert_staged_write(entry)
    await tx.record(write.request, replace(answer_of(entry), on_behalf_of=new.on_behalf_of))
    tell(tx, env, entry, "staged", author)
    return entry


async def _for_session(
    tx: WriteTx, session: Session, target: StagedTarget, new: NewEntry
) -> tuple[StagedTarget, StagedOrigin]:
    """The target as it is, and the origin with a base: what the target is now, where nothing is said."""
    branch = await tx.branch(session.session_id, target.branch)
    if branch is None:
        raise NotFound("branch")
    target = replace(target, project_id=session.project_id)
    origin = new.origin
    if target.floor_id:
        floor = await known_floor(tx, target.floor_id, session.session_id)
        if floor.is_root and target.placement is Placement.OUTPUT_OF_FLOOR:
            raise invalid("target.floor_id", "is the root, which has no output")
    if target.placement is not Placement.OUTPUT_OF_FLOOR and target.floor_id:
        if origin.base_floor_id not in ("", target.floor_id):
            raise invalid("target.floor_id", "is another than origin.base_floor_id")
        origin = replace(origin, base_floor_id=target.floor_id)
    if not origin.base_floor_id and any(is_on_head(target, part) for part in new.parts):
        origin = replace(origin, base_floor_id=branch.head_floor_id)
    return target, await _with_version(tx, origin, new.parts, session)


async def _for_project(tx: ReadTx, project: Project, new: NewEntry) -> StagedOrigin:
    return await _with_version(tx, new.origin, new.parts, project)


async def _with_version(
    tx: ReadTx, origin: StagedOrigin, parts: tuple[StagedPart, ...], target: Session | Project
) -> StagedOrigin:
    if origin.base_version:
        return origin
    if any(isinstance(part, StagedConfig) for part in parts):
        return replace(origin, base_version=target.version)
    scope = versioned_scope(parts)
    if scope is None:
        return origin
    owner = owner_of(target, scope)
    return replace(origin, base_version=(await tx.live_layers(owner))[owner].version)


def owner_of(target: Session | Project, scope: Scope) -> str:
    """Whose live values a scope's are."""
    if isinstance(target, Session) and scope is Scope.SESSION:
        return target.session_id
    return target.project_id


async def get_staged(env: Env, caller: Caller, staged_write_id: str) -> StagedWrite:
    async with env.store.reading(caller.tenant_id) as tx:
        return await known_entry(tx, staged_write_id)


async def list_staged(
    env: Env, caller: Caller, where: StagedFilter, after: tuple[str, str] | None, limit: int
) -> list[StagedWrite]:
    """Newest first, after the (time as ISO text, id) of the last one seen; without their bodies.
    `where.project_id` is as the caller wrote it."""
    if where.project_id:
        where = replace(where, project_id=project_id_of(caller.tenant_id, where.project_id))
    start = (datetime.fromisoformat(after[0]), after[1]) if after else None
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.staged_writes(replace(where, member=caller.member), start, limit)


async def reject_staged(env: Env, write: Write, staged_write_id: str, reason: str) -> StagedWrite:
    return await _against(env, write, staged_write_id, StagedState.REJECTED, reason, lambda entry: None)


async def withdraw_staged(env: Env, write: Write, staged_write_id: str, reason: str) -> StagedWrite:
    def may(entry: StagedWrite) -> None:
        policy.may_withdraw(write.caller, entry.staged_by)

    return await _against(env, write, staged_write_id, StagedState.WITHDRAWN, reason, may)


async def _against(
    env: Env,
    write: Write,
    staged_write_id: str,
    outcome: StagedState,
    reason: str,
    may: Callable[[StagedWrite], None],
) -> StagedWrite:
    """Ends an entry with nothing done, whatever its target has become; what is gone with its session is
    NOT_FOUND."""
    seen = await get_staged(env, write.caller, staged_write_id)
    may(seen)

    async def attempt(tx: WriteTx) -> StagedWrite:
        entry = await tx.lock_staged_write(staged_write_id)
        answer = await tx.answer(write.request)
        if answer is not None:
            return await entry_of(tx, answer)
        entry = undecided(env, entry, seen)
        decision = Decision(outcome, write.caller.principal, reason, decide_time=env.clock())
        answer = await settle(tx, env, write, entry, Answer(entry.target.session_id), decision)
        return await entry_of(tx, answer)

    return await env.store.write(write.caller.tenant_id, attempt)


async def settle(
    tx: WriteTx, env: Env, write: Write, entry: StagedWrite, answer: Answer, decision: Decision
) -> Answer:
    """Decides a locked entry, and records and tells it in the same transaction. -> what is recorded"""
    if not await tx.settle_staged_write(entry.staged_write_id, decision):
        raise AssertionError("a locked entry that is not decided stays so")
    entry = replace(entry, decision=decision)
    said = answer_of(entry)
    recorded = replace(answer, other=said.other, target=said.target, project_id=said.project_id)
    await tx.record(write.request, recorded)
    tell(tx, env, entry, decision.outcome.value, decision.decided_by)
    return recorded


def undecided(env: Env, entry: StagedWrite | None, seen: StagedWrite) -> StagedWrite:
    """The entry, if it can still be decided. `seen` is how it was before it was locked: who then lost
    to another decision is told ABORTED, who came later FAILED_PRECONDITION."""
    if entry is None:
        raise NotFound("staged write")
    state = entry.decision.outcome
    if state is StagedState.STAGED and entry.expire_time <= env.clock():
        state = StagedState.EXPIRED
    if state is StagedState.STAGED:
        return entry
    raced = entry.decision != seen.decision
    raise (Aborted if raced else FailedPrecondition)(
        "ALREADY_DECIDED",
        "The entry is decided already: read it.",
        {"state": f"STAGED_WRITE_STATE_{state.name}"},
    )


async def known_entry(tx: ReadTx, staged_write_id: str) -> StagedWrite:
    entry = await tx.staged_write(staged_write_id)
    if entry is None:
        raise NotFound("staged write")
    return entry


def answer_of(entry: StagedWrite) -> Answer:
    """What a request for an entry is answered with: its id, and what may change of it."""
    decision = entry.decision
    time = decision.decide_time
    said = [
        entry.staged_write_id,
        decision.outcome.value,
        decision.decided_by,
        decision.reason,
        decision.result_floor_id,
        decision.stale,
        time.isoformat() if time else "",
    ]
    target, project_id = f"staged_write:{entry.staged_write_id}", entry.target.project_id
    return Answer(entry.target.session_id, other=json.dumps(said), target=target, project_id=project_id)


async def entry_of(tx: ReadTx, answer: Answer) -> StagedWrite:
    """The entry as it was answered; NOT_FOUND once it is gone with its session."""
    if not answer.other:
        raise NotFound("staged write")
    staged_write_id, outcome, by, reason, floor_id, stale, time = json.loads(answer.other)
    decided_at = datetime.fromisoformat(time) if time else None
    decision = Decision(StagedState(outcome), by, reason, floor_id, stale, decided_at)
    return replace(await known_entry(tx, staged_write_id), decision=decision)


def tell(tx: WriteTx, env: Env, entry: StagedWrite, what: str, principal: str) -> None:
    """One event for what became of an entry: ids, never content."""
    target, decision = entry.target, entry.decision
    payload: dict[str, str | int] = {"staged_write_id": entry.staged_write_id, "principal": principal}
    if entry.origin.draft_id:
        payload["draft_id"] = entry.origin.draft_id
    if decision.stale:
        payload["stale"] = 1
    floor_id = decision.result_floor_id or target.floor_id
    event = Event(env.new_id(), f"staged_write.{what}", target.session_id, floor_id, payload)
    tx.emit(target.project_id, event)
