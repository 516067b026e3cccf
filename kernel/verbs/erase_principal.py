"""Erasing a person (T2): the grave first, then one session a transaction, then what is in no session.

A crash in between leaves a grave, and what is not erased yet: a repeat goes on there. The receipt grows in
the transactions that take the rows, so it says the same however often it was begun.
"""

from collections.abc import Awaitable, Sequence
from functools import partial

from kernel.errors import invalid
from kernel.verbs.env import Env, Write, WriteTx
from kernel.verbs.pending import fail
from kernel.verbs.records import Answer, Erased, Event, Session
from kernel.verbs.sealer import seal_all
from kernel.verbs.verify import repaired_in

ERASED_REASON = "ERASED"
# Sessions in one look.
_BATCH = 100


async def erase_principal(env: Env, write: Write, principal: str) -> tuple[Erased, ...]:
    """Everything that a principal wrote and is, in the caller's tenant. -> rows by store, from all tries

    From the first transaction on it writes nothing, in flight or repeated. INVALID for the caller itself,
    which could not be answered.
    """
    if principal == write.caller.principal:
        raise invalid("principal", "is the caller: nobody erases themselves; ask with another principal")
    tenant_id = write.caller.tenant_id
    async with env.store.reading(tenant_id) as tx:
        answer = await tx.answer(write.request)
    if answer is not None:
        return answer.receipt
    await env.store.write(tenant_id, lambda tx: tx.bury(principal))
    await env.store.write(tenant_id, lambda tx: _counted(tx, principal, tx.erase_entries_of(principal)))
    while found := await _sessions(env, tenant_id, principal):
        for session_id in found:
            await _erase_in(env, tenant_id, session_id, principal)
    return await env.store.write(tenant_id, lambda tx: _end(tx, write, principal))


async def _sessions(env: Env, tenant_id: str, principal: str) -> list[str]:
    async def look(tx: WriteTx) -> list[str]:
        return await tx.sessions_of(principal, _BATCH)

    return await env.store.write(tenant_id, look)


async def _erase_in(env: Env, tenant_id: str, session_id: str, principal: str) -> None:
    async def attempt(tx: WriteTx) -> None:
        session = await tx.lock_whole(session_id)
        if session is None:
            return
        if await tx.is_alone(session, principal):
            taken = await _whole(tx, env, session)
        else:
            taken = await _part(tx, env, session, principal)
        await tx.add_taken(principal, taken)

    await env.store.write(tenant_id, attempt, session_id)


async def _whole(tx: WriteTx, env: Env, session: Session) -> Sequence[Erased]:
    for run_id in await tx.running_runs(session.session_id):
        tx.after_commit(partial(env.runs.ended, run_id))
    taken = await tx.erase_whole(session)
    tx.emit(session.project_id, Event(env.new_id(), "session.deleted", session.session_id))
    return taken


async def _part(tx: WriteTx, env: Env, session: Session, principal: str) -> Sequence[Erased]:
    for floor in await tx.pending_of(session.session_id, principal):
        branch = await tx.branch(session.session_id, floor.branch)
        assert branch is not None, "a pending floor's branch exists"
        await fail(tx, env, session, floor, branch, ERASED_REASON)
    taken = await tx.blank_in(session, principal)
    # The state below what was erased is another one.
    await repaired_in(tx, session)
    return taken


async def _counted(tx: WriteTx, principal: str, work: Awaitable[Sequence[Erased]]) -> None:
    await tx.add_taken(principal, await work)


async def _end(tx: WriteTx, write: Write, principal: str) -> tuple[Erased, ...]:
    """What is in no session, the name in the audit last: what it did must be there before."""
    answer = await tx.answer(write.request)
    if answer is not None:
        return answer.receipt
    await seal_all(tx, write.caller.tenant_id)
    await _counted(tx, principal, tx.erase_rest(principal))
    alias = await tx.forget_auditor(principal)
    await tx.add_taken(principal, [Erased("audit_principal", 1 if alias else 0)])
    receipt = await tx.taken_from(principal)
    await tx.record(write.request, Answer(receipt=receipt, target="principal:"))
    return receipt
