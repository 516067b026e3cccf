"""`stemma migrate`."""

import asyncio
import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from stemma_cli.options import Json, wants_json


def default_database_url(data: Path) -> str:
    """Of the conversation service on the embedded default."""
    return f"sqlite:///{data / 'conversation.db'}"


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
    data: Annotated[Path, typer.Option("--data", envvar="STEMMA_DATA", hidden=True)] = Path("data"),
    json: Json = False,
) -> None:
    """Bring the database to the newest schema.

    Makes what is missing, in one transaction, and prints the revision. The service does this by itself when
    it starts; here it can be done before, by somebody with more rights.
    """
    revision = asyncio.run(_migrated(database_url or default_database_url(data)))
    if wants_json(context, json):
        print(json_module.dumps({"revision": revision}))
    else:
        print(f"The conversation database is at revision {revision}, the newest.")


async def _migrated(url: str) -> str:
    from sqlalchemy.exc import ArgumentError

    from conversation_service.migrate import migrate as bring_up
    from kernel.errors import StemmaError
    from stemma_cli.errors import CliError, UsageError

    try:
        return await bring_up(url)
    except ArgumentError:
        raise UsageError(
            "--database-url is not a URL: postgresql://… or sqlite:///path/to/file.db."
        ) from None
    except StemmaError as error:
        raise CliError(f"The database was not changed. {error.message}") from None
    except OSError as error:
        raise CliError(f"The database cannot be reached: {error.strerror or type(error).__name__}.") from None
