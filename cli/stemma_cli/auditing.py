"""The audit: its entries as lines, and whether a chain in a database holds."""

from datetime import UTC
from pathlib import Path
from typing import Any

from rich.text import Text
from stemma.kernel.v1 import audit_pb2

from stemma_cli.errors import CliError, UsageError
from stemma_cli.output import Output
from stemma_cli.words import plural, printable

_FIELDS = {
    "principal": "principal",
    "action": "action",
    "target": "target",
    "session": "session_id",
    "project": "project_id",
    "request": "request_id",
    "outcome": "outcome",
}


def filters(given: list[str]) -> dict[str, str]:
    """`FIELD=VALUE` of the command line as fields of the request. Raises UsageError."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or name not in _FIELDS:
            raise UsageError(f"{printable(one)} is not FIELD=VALUE with one of {', '.join(_FIELDS)}.")
        found[_FIELDS[name]] = value
    return found


def show_entries(out: Output, answer: Any, limit: int) -> None:
    """One line each, the newest first; then the head, to be kept elsewhere."""
    out.answer(answer)
    for entry in answer.audit_entries:
        out.say(_line(entry))
    if not answer.audit_entries:
        out.note("Nothing that fits was done.")
    if answer.next_page_token:
        out.note(f"… and more: --limit {2 * limit} shows them.")
    if answer.head:
        out.note(f"The chain's head is {answer.head}")


def _line(entry: audit_pb2.AuditEntry) -> Text:
    time = entry.create_time.ToDatetime(UTC).strftime("%Y-%m-%d %H:%M:%S")
    who = entry.principal or "(several)"
    if entry.on_behalf_of:
        who += f" for {entry.on_behalf_of}"
    refused = entry.outcome if entry.outcome != "OK" else ""
    what = entry.action or plural(entry.count, "denial")
    return Text.assemble(
        (f"{entry.number:>7}", "bold"),
        (f"  {time}  ", "dim"),
        f"{printable(who)}  {printable(what)}  ",
        (f"{refused}  ", "red") if refused else "",
        (printable(f"{entry.target_kind} {entry.target_id}".strip()), "dim"),
    )


async def verified(url: str, tenant_id: str, kept: str) -> dict[str, Any]:
    """Of one tenant's chain in a database: its last entry that holds, as a head, and the first fault behind
    it as `number` and `text`. Raises CliError, UsageError."""
    from sqlalchemy.exc import ArgumentError

    from kernel.clock import utc_now
    from kernel.errors import StemmaError, Unavailable
    from kernel.storage.engine import Engines
    from kernel.storage.failures import Refused
    from kernel.storage.store import SqlStore
    from kernel.verbs.audit_verify import verify_audit

    head = _head(kept)
    try:
        engines = Engines(_there(url))
    except ArgumentError:
        raise UsageError("--database-url is not a URL: postgresql://… or sqlite:///path.db.") from None
    except StemmaError as error:
        raise CliError(error.message) from None
    try:
        async with SqlStore(engines, utc_now).reading(tenant_id) as tx:
            last, fault = await verify_audit(tx, tenant_id, head)
    except (Unavailable, Refused):
        text = "The database cannot be read: is it running, and brought up by `stemma migrate`?"
        raise CliError(text) from None
    finally:
        await engines.close()
    found: dict[str, Any] = {"tenantId": tenant_id, "entries": last.number, "head": str(last)}
    return found | ({"fault": {"number": fault.number, "text": fault.text}} if fault else {})


def _head(kept: str) -> Any:
    from kernel.verbs.audit import Head

    if not kept:
        return None
    number, _, digest = kept.partition(":")
    try:
        head = Head(int(number), bytes.fromhex(digest))
    except ValueError:
        head = Head(0, b"")
    if head.number < 1 or len(head.digest) != 32:
        raise UsageError("--kept is not a head: it looks like 41:9f86d0…, as `stemma audit list` prints it.")
    return head


def _there(url: str) -> str:
    """A file that is not there would be made by being looked at."""
    name = url.removeprefix("sqlite:///") if "://" not in url or url.startswith("sqlite:///") else ""
    if name and not Path(name).exists():
        raise CliError(f"There is no database {name}.")
    return url


def show_verified(out: Output, found: dict[str, Any]) -> None:
    """Raises CliError when the chain does not hold."""
    out.answer_dict(found)
    if fault := found.get("fault"):
        raise CliError(
            f"The audit of {found['tenantId']} does not hold: entry {fault['number']:,} {fault['text']}."
        )
    count = found["entries"]
    out.say(f"{count:,} {'entry' if count == 1 else 'entries'}: the chain holds.")
    out.note(f"Its head is {found['head']}")
