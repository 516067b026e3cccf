"""`stemma migrate`."""

import asyncio
import json as json_module
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stemma_cli.options import Json, wants_json


class Database(StrEnum):
    """The databases, in the order in which they are brought up."""

    CONVERSATION = "conversation"
    DRAFT = "draft"


def default_database_url(data: Path, database: Database = Database.CONVERSATION) -> str:
    """Of a service on the embedded default."""
    return f"sqlite:///{data / f'{database}.db'}"


def migrate(
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
            help="The same for drafts; else draft.db in STEMMA_DATA.",
            show_default=False,
            show_envvar=True,
        ),
    ] = "",
    only: Annotated[
        Database | None, typer.Option("--only", help="Leave the other database alone.", show_default=False)
    ] = None,
    data: Annotated[Path, typer.Option("--data", envvar="STEMMA_DATA", hidden=True)] = Path("data"),
    json: Json = False,
) -> None:
    """Bring both databases to the newest schema.

    Makes what is missing, in one transaction for each, and prints the revisions. The services do this by
    themselves when they start; here it can be done before, by somebody with more rights.
    """
    urls = {Database.CONVERSATION: database_url, Database.DRAFT: draft_database_url}
    urls = {one: url or default_database_url(data, one) for one, url in urls.items() if only in (None, one)}
    _check_apart(urls)
    as_json = wants_json(context, json)
    revisions = {}
    for database, url in urls.items():
        revisions[database.value] = asyncio.run(_migrated(database, url))
        if not as_json:
            print(f"The {database} database is at revision {revisions[database.value]}, the newest.")
    if as_json:
        print(json_module.dumps(revisions))


def _check_apart(urls: dict[Database, str]) -> None:
    """Their revisions have the same names, and other tables behind them."""
    from stemma_cli.errors import UsageError

    if len(set(urls.values())) < len(urls):
        raise UsageError("Each service has a database of its own: the two URLs are the same.")


async def _migrated(database: Database, url: str) -> str:
    import conversation_service.migrate
    import draft_service.migrate
    from stemma_cli.databases import told

    drafts = database is Database.DRAFT
    bring_up = draft_service.migrate.migrate if drafts else conversation_service.migrate.migrate
    with told(f"The {database} database", "--draft-database-url" if drafts else "--database-url"):
        return await bring_up(url)
