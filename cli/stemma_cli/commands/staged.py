"""`stemma staged`: the ledger, where drafts' results wait for somebody to decide."""

from enum import StrEnum
from typing import Annotated

import typer

from stemma_cli.options import Address, Json, service_address, wants_json

EntryId = Annotated[str, typer.Argument(metavar="STAGED_WRITE_ID", show_default=False)]
Reason = Annotated[
    str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; kept with it.", show_default=False)
]


class State(StrEnum):
    STAGED = "staged"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


def list_(
    context: typer.Context,
    state: Annotated[State | None, typer.Option("--state", help="Only these.", show_default=False)] = None,
    session: Annotated[str, typer.Option("--session", metavar="ID", show_default=False)] = "",
    project: Annotated[str, typer.Option("--project", metavar="ID", show_default=False)] = "",
    draft: Annotated[str, typer.Option("--draft", metavar="ID", show_default=False)] = "",
    by: Annotated[str, typer.Option("--by", metavar="PRINCIPAL", show_default=False)] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, metavar="COUNT")] = 20,
    address: Address = None,
    json: Json = False,
) -> None:
    """List what was staged, the newest first."""
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.reviewing import show_entries

    out = Output(as_json=wants_json(context, json))
    where = {"session_id": session, "project_id": project, "draft_id": draft, "principal": by}
    with connect(service_address(context, address)) as client:
        answer = client.list_staged_writes(limit=limit, state=state.value if state else "", **where)
        show_entries(out, answer)


def show(
    context: typer.Context, staged_write_id: EntryId, address: Address = None, json: Json = False
) -> None:
    """Show an entry as it was staged, and what became of it."""
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.reviewing import show_entry

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        answer = client.get_staged_write(staged_write_id)
        out.answer(answer)
        show_entry(out, answer.staged_write)


def preview(
    context: typer.Context, staged_write_id: EntryId, address: Address = None, json: Json = False
) -> None:
    """Show what accepting an entry would change now, and what stands against it."""
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.reviewing import show_preview

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        show_preview(out, client.preview_staged_write(staged_write_id))


def accept(
    context: typer.Context,
    staged_write_id: EntryId,
    reason: Reason,
    select: Annotated[
        bool, typer.Option("--select", help="Choose the reply, too.", show_default=False)
    ] = False,
    allow_stale: Annotated[
        bool, typer.Option("--allow-stale", help="Also when the target has changed.", show_default=False)
    ] = False,
    head: Annotated[
        str,
        typer.Option("--head", metavar="FLOOR_ID", help="The head it is to have.", show_default=False),
    ] = "",
    version: Annotated[
        int, typer.Option("--version", metavar="NUMBER", help="The version it is to have.")
    ] = 0,
    address: Address = None,
    json: Json = False,
) -> None:
    """Make an entry true: all of its parts, or none."""
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.reviewing import show_entry

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        answer = client.accept_staged_write(
            staged_write_id,
            reason=reason,
            select=select,
            allow_stale=allow_stale,
            expected_head=head,
            expected_version=version,
        )
        out.answer(answer)
        show_entry(out, answer.staged_write)


def reject(
    context: typer.Context,
    staged_write_id: EntryId,
    reason: Reason,
    address: Address = None,
    json: Json = False,
) -> None:
    """End an entry with nothing done."""
    _against(context, "reject", staged_write_id, reason, address, json)


def withdraw(
    context: typer.Context,
    staged_write_id: EntryId,
    reason: Reason,
    address: Address = None,
    json: Json = False,
) -> None:
    """Take back what you staged."""
    _against(context, "withdraw", staged_write_id, reason, address, json)


def _against(
    context: typer.Context, how: str, staged_write_id: str, reason: str, address: str | None, json: bool
) -> None:
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.reviewing import show_entry

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        call = client.reject_staged_write if how == "reject" else client.withdraw_staged_write
        answer = call(staged_write_id, reason)
        out.answer(answer)
        show_entry(out, answer.staged_write)


COMMANDS = (list_, show, preview, accept, reject, withdraw)
