"""Walks a tenant's audit from its first entry, and names the first that is not as it was sealed."""

from kernel.verbs.audit import Check, Fault, Head
from kernel.verbs.audit_store import AuditReads

_CHUNK = 1_000
# Nothing belongs before 1: what stands there is seen, too.
_BEFORE_ALL = -(2**62)


async def verify_audit(tx: AuditReads, tenant_id: str, kept: Head | None = None) -> tuple[Head, Fault | None]:
    """-> the last entry that holds, and the fault behind it. `kept` is a head that was noted elsewhere: with
    it, entries that are missing at the end, and a chain that was written anew, show too."""
    check = Check(tenant_id, kept, await tx.audit_principals())
    after = _BEFORE_ALL
    while entries := await tx.audit_chain(after, _CHUNK):
        for entry in entries:
            if fault := check.follow(entry):
                return check.last, fault
        after = entries[-1].number
    return check.last, check.end(await tx.audit_head())
