"""The one way out of a draft (D7): written down, staged, settled.

What is exported is copied in the transaction that finds the draft active; from then on it completes,
whatever becomes of the draft or of this process. Its id is the request id of the call that stages it, so
that call may be made any number of times. Only the draft's caller comes here, and the recovery: nothing
that a run can reach does (D6).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from draft_service.app.ending import ended_in, of_drafts
from draft_service.app.store import WriteTx
from draft_service.app.world import Outgoing, World
from draft_service.domain.draft import DraftState
from draft_service.domain.exports import (
    Export,
    ExportPart,
    ExportState,
    PagePart,
    ProposalPart,
    kinds,
    origin_of,
    target_of,
    why_not,
)
from kernel import errors
from kernel.tree.model import Floor
from kernel.verbs import store as kernel
from kernel.verbs.answers import in_session
from kernel.verbs.env import MAIN, Write
from kernel.verbs.moves import head_floor
from kernel.verbs.records import Answer, Session
from kernel.verbs.staged_store import Placement, StagedPage, StagedPart, StagedTarget


@dataclass(frozen=True, slots=True)
class ExportAsk:
    """Parts are checked each by itself; `target` is empty where the draft's source is meant."""

    draft_id: str
    target: StagedTarget
    parts: Sequence[ExportPart]
    reason: str
    finalize: bool


async def export_draft(world: World, write: Write, ask: ExportAsk) -> Export:
    """Settled as staged. Raises the ledger's refusal, and that again for a repeat; UNAVAILABLE while it is
    not known; NOT_EXPORTABLE, NOT_FOUND for what the draft has not."""

    async def work(kernel_tx: kernel.WriteTx, session: Session) -> Answer:
        tx = of_drafts(kernel_tx)
        export = await _written(tx, world, write, ask, session)
        await tx.insert_export(export)
        await tx.audit(ask.draft_id, "exported", export.principal, {"export_id": export.export_id})
        return Answer(ask.draft_id, other=export.export_id, target=f"export:{export.export_id}")

    done = await in_session(world.env, write, ask.draft_id, work)
    if not done.other:
        raise errors.NotFound("draft")
    export = await settled(world, write.caller.tenant_id, ask.draft_id, done.other)
    if export.failure:
        raise _refusal(export.failure)
    return export


async def _written(tx: WriteTx, world: World, write: Write, ask: ExportAsk, session: Session) -> Export:
    draft = await tx.draft(ask.draft_id)
    assert draft is not None, "its session is locked, and takes writes"
    export_id, now = world.env.new_id(), await tx.now()
    page_id, parts = "", list[StagedPart]()
    for number, part in enumerate(ask.parts):
        match part:
            case PagePart():
                floor = await _exportable(tx, world, session, part.page_id)
                assert floor.output is not None
                page_id = floor.output.page_id
                given = floor.input.content if part.with_input and floor.input else None
                parts.append(StagedPage(given, floor.output.content))
            case ProposalPart(proposal_id):
                proposal = await tx.proposal(ask.draft_id, proposal_id)
                if proposal is None:
                    raise errors.NotFound("proposal")
                parts.append(proposal.part)
            case _:
                parts.append(part)
        if kinds(parts).count(type(parts[-1])) > 1:
            raise errors.invalid(f"parts[{number}]", "is the second of its kind: export it by itself")
    target = target_of(draft, ask.target)
    _check_placement(target, parts)
    outgoing = Outgoing(
        export_id,
        target,
        tuple(parts),
        origin_of(draft, target, page_id, parts),
        ask.reason,
        write.caller.principal,
        now,
    )
    payload = world.ledger.payload(outgoing)
    principal = write.caller.principal
    return Export(
        ask.draft_id, export_id, ExportState.PENDING, principal, payload, page_id, ask.finalize, now
    )


def _check_placement(target: StagedTarget, parts: Sequence[StagedPart]) -> None:
    page = next((part for part in parts if isinstance(part, StagedPage)), None)
    if page is None:
        return
    if target.placement is Placement.NONE:
        raise errors.invalid("target.placement", "is required with an output page")
    if target.placement is Placement.OUTPUT_OF_FLOOR and not target.floor_id:
        raise errors.invalid("target.floor_id", "is required for PLACEMENT_OUTPUT_OF_FLOOR")
    if target.placement is Placement.OUTPUT_OF_FLOOR and page.input is not None:
        raise errors.invalid("parts", "an input comes along for PLACEMENT_NEXT_FLOOR only")


async def _exportable(tx: WriteTx, world: World, session: Session, page_id: str) -> Floor:
    """The floor of the current path whose output is that page, or the last one that has one to export."""
    branch = await tx.branch(session.session_id, MAIN)
    assert branch is not None, "main always exists"
    head = await head_floor(tx, branch)
    why = "the draft has no output page on its current path"
    for depth in range(head.place.depth, 0, -1):
        (floor,) = await tx.path(session.session_id, head.place, depth, depth)
        if floor.output is None or page_id not in ("", floor.output.page_id):
            continue
        why = why_not(floor.output, floor.state, world.env.codec.messages(floor.output.content.blob))
        if not why:
            return floor
        if page_id:
            break
    else:
        if page_id:
            if not await tx.has_page(session.session_id, page_id):
                raise errors.NotFound("page")
            why = "the page is no output on the current path"
    raise errors.FailedPrecondition("NOT_EXPORTABLE", f"There is nothing to export: {why}.")


async def settled(world: World, tenant_id: str, draft_id: str, export_id: str) -> Export:
    """Makes the call that an export stands for, unless that is settled, and writes down what became of it.
    UNAVAILABLE when that is not known: the recovery asks again."""
    async with world.store.reading(tenant_id) as tx:
        export = await tx.export(draft_id, export_id)
    if export is None:
        raise errors.NotFound("draft")
    if export.state is not ExportState.PENDING:
        return export
    state, staged_write_id, failure = ExportState.STAGED, "", ""
    try:
        staged_write_id = await world.ledger.stage(tenant_id, export.payload)
    except (errors.Unavailable, errors.Aborted):
        raise errors.Unavailable(
            "UNAVAILABLE",
            "The export is written down, and goes on by itself; whether it is staged is not known yet. Retry "
            "with the same request_id.",
        ) from None
    except errors.StemmaError as refusal:
        state, failure = ExportState.FAILED, _failure(refusal)

    async def settle(tx: WriteTx) -> Export:
        session = await tx.lock_tree(draft_id)
        if await tx.settle_export(draft_id, export_id, state, staged_write_id, failure):
            details = {"export_id": export_id, "staged_write_id": staged_write_id}
            await tx.audit(draft_id, state.value, export.principal, details)
            if session is not None and export.finalize and state is ExportState.STAGED:
                await ended_in(tx, world.env, session, DraftState.FINALIZED, export.principal, "")
        found = await tx.export(draft_id, export_id)
        if found is None:
            raise errors.NotFound("draft")
        return found

    return await world.store.write(tenant_id, settle, draft_id)


_KINDS: dict[str, type[errors.StemmaError]] = {
    kind.__name__: kind
    for kind in (
        errors.AlreadyExists,
        errors.FailedPrecondition,
        errors.OutOfRange,
        errors.Exhausted,
        errors.Forbidden,
        errors.DataLoss,
    )
}


def _failure(refusal: errors.StemmaError) -> str:
    violations = [[v.field, v.description] for v in getattr(refusal, "violations", ())]
    kind = type(refusal).__name__
    return json.dumps([kind, refusal.reason, refusal.message, refusal.metadata, violations])


def _refusal(failure: str) -> errors.StemmaError:
    kind, reason, message, metadata, violations = json.loads(failure)
    if kind == errors.NotFound.__name__:
        return errors.NotFound("target")
    if kind == errors.Invalid.__name__:
        return errors.Invalid(*(errors.Violation(*violation) for violation in violations))
    return _KINDS[kind](reason, message, metadata)
