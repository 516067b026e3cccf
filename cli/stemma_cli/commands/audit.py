"""`stemma audit`: who did what, and whether that was tampered with."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from stemma_cli.commands.migrate import Database, default_database_url
from stemma_cli.options import Address, Json, draft_address, service_address, wants_json

Drafts = Annotated[bool, typer.Option("--drafts", help="Of the draft service instead.", show_default=False)]


def list_(
    context: typer.Context,
    where: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIELD=VALUE]...",
            help="Only these: principal, action, target, session, project, request or outcome, as in "
            "action=AppendFloor outcome=PERMISSION_DENIED.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, metavar="COUNT")] = 20,
    drafts: Drafts = False,
    address: Address = None,
    json: Json = False,
) -> None:
    """List what was done and what was denied, the newest first."""
    from stemma_cli.auditing import filters, show_entries
    from stemma_cli.client import connect, connect_draft_audit
    from stemma_cli.output import Output

    out, wanted = Output(as_json=wants_json(context, json)), filters(where or [])
    if drafts:
        with connect_draft_audit(draft_address(address)) as client:
            show_entries(out, client.list_audit_entries(limit, **wanted), limit)
    else:
        with connect(service_address(context, address)) as client:
            show_entries(out, client.list_audit_entries(limit, **wanted), limit)


def verify(
    context: typer.Context,
    database_url: Annotated[
        str,
        typer.Option(
            "--database-url",
            metavar="URL",
            envvar="STEMMA_CONVERSATION_DATABASE_URL",
            help="`postgresql://…` or `sqlite:///file.db`; else conversation.db in STEMMA_DATA.",
            show_default=False,
            show_envvar=True,
        ),
    ] = "",
    draft_database_url: Annotated[
        str,
        typer.Option(
            "--draft-database-url",
            metavar="URL",
            envvar="STEMMA_DRAFT_DATABASE_URL",
            help="With --drafts; else draft.db in STEMMA_DATA.",
            show_default=False,
            show_envvar=True,
        ),
    ] = "",
    drafts: Drafts = False,
    tenant: Annotated[str, typer.Option("--tenant", metavar="ID", help="Whose audit.")] = "local",
    kept: Annotated[
        str,
        typer.Option("--kept", metavar="HEAD", help="A head that was noted elsewhere.", show_default=False),
    ] = "",
    data: Annotated[Path, typer.Option("--data", envvar="STEMMA_DATA", hidden=True)] = Path("data"),
    json: Json = False,
) -> None:
    """Walk an audit's chain in its database, and name the first entry that was tampered with.

    Whoever can write to the database can also write the whole chain anew, or cut its end off: a head that was
    kept elsewhere (`stemma audit list` prints it) shows that, too. The services may go on running.
    """
    from stemma_cli.auditing import show_verified, verified
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    database = Database.DRAFT if drafts else Database.CONVERSATION
    url = (draft_database_url if drafts else database_url) or default_database_url(data, database)
    show_verified(out, asyncio.run(verified(url, tenant, kept)))


COMMANDS = (list_, verify)
