"""The cases of `cases.py` for the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.verbs.audit import Act, chained
from kernel.verbs.audit_store import AuditFilter
from kernel.verbs.sealer import seal
from kernel.verbs.store import WriteTx
from tests.conformance.world import World

if TYPE_CHECKING:
    from tests.conformance.cases import Furnished, Read, Write


def act(world: World, **fields: str) -> Act:
    """With every field said."""
    values = {
        "on_behalf_of": f"somebody {world.mark}",
        "target_kind": "session",
        "target_id": world.session.session_id,
        "session_id": world.session.session_id,
        "project_id": world.session.project_id,
        "request_id": world.new_id(),
        "outcome": "PERMISSION_DENIED",
        "reason": "FORBIDDEN",
    }
    return Act(world.now(), f"auditor {world.mark}", "EditFloor", **(values | fields))


async def insert_audit(tx: WriteTx, world: World) -> None:
    """A chain of what was done until now, and a notice that has no entry yet."""
    await tx.insert_notice(world.new_id(), act(world))
    await seal(tx, world.tenant, 100, everything=True)
    await tx.insert_notice(world.new_id(), act(world))


AUDIT_READS: dict[str, Read] = {
    "audit_head": lambda tx, on: tx.audit_head(),
    "anything_unsealed": lambda tx, on: tx.anything_unsealed(),
    "audit_chain": lambda tx, on: tx.audit_chain(0, 100),
    "audit_entries": lambda tx, on: tx.audit_entries(AuditFilter(session_id=on.session_id), None, 100),
    "audit_principals": lambda tx, on: tx.audit_principals(),
}


async def _seal(tx: WriteTx, on: Furnished) -> None:
    head = await tx.lock_audit_head()
    await tx.seal(chained(on.world.tenant, head, [act(on.world)]), await tx.unsealed(1))


AUDIT_WRITES: dict[str, Write] = {
    "lock_audit_head": lambda tx, on: tx.lock_audit_head(),
    "unsealed": lambda tx, on: tx.unsealed(100, everything=True),
    "aliases": lambda tx, on: tx.aliases(frozenset({f"another {on.world.mark}"})),
    "seal": _seal,
    "insert_notice": lambda tx, on: tx.insert_notice(on.world.new_id(), act(on.world)),
    "forget_auditor": lambda tx, on: tx.forget_auditor(f"auditor {on.world.mark}"),
}
