"""What the tests of the audit look at: its entries by RPC, its rows, and whether its chain holds."""

from collections import Counter
from typing import Any

from sqlalchemy import select
from stemma.kernel.v1 import audit_pb2

from kernel.storage import tables as t
from kernel.storage.store import SqlStore
from kernel.verbs.audit import Fault, Head
from kernel.verbs.audit_verify import verify_audit
from tests.support.client import Client

TENANT = "local"


async def entries(client: Client, rpc: str = "ListAuditEntries", **where: Any) -> list[audit_pb2.AuditEntry]:
    """All that fit, newest first."""
    return await client.everything(rpc, "audit_entries", **where)


async def head(client: Client) -> Head:
    number, _, digest = (await client.call("ListAuditEntries", page_size=1)).head.partition(":")
    return Head(int(number), bytes.fromhex(digest))


async def acknowledged(store: SqlStore) -> Counter[tuple[str, str, str]]:
    """(principal, RPC, request id) of every write that has an answer."""
    async with store._engines.reading() as connection:
        columns = t.request.c.principal, t.request.c.method, t.request.c.request_id
        rows = await connection.execute(select(*columns))
        return Counter((row[0], row[1].rpartition("/")[2], row[2]) for row in rows)


def told(found: list[audit_pb2.AuditEntry]) -> Counter[tuple[str, str, str]]:
    """The same, as the entries of what was done say it."""
    return Counter((one.principal, one.action, one.request_id) for one in found if one.outcome == "OK")


async def fault(store: SqlStore, kept: Head | None = None) -> Fault | None:
    async with store.reading(TENANT) as tx:
        return (await verify_audit(tx, TENANT, kept))[1]
