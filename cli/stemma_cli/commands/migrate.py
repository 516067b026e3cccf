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
    from asyncpg import PostgresError
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from conversation_service.migrate import migrate as bring_up
    from kernel.errors import StemmaError, Unavailable
    from kernel.storage.failures import Refused
    from stemma_cli.errors import CliError, UsageError

    try:
        return await bring_up(url)
    except ArgumentError:
        raise UsageError(
            "--database-url is not a URL: postgresql://… or sqlite:///path/to/file.db."
        ) from None
    except Unavailable:
        raise CliError("The database cannot be reached: is it running, and is the URL right?") from None
    except StemmaError as error:
        raise CliError(error.message) from None
    except (DBAPIError, PostgresError, Refused) as error:
        raise CliError(f"The database was not changed, it says: {_driver_words(error)}.") from None
    except OSError as error:
        raise CliError(f"The database cannot be opened: {error.strerror or type(error).__name__}.") from None


def _driver_words(error: BaseException) -> str:
    """The driver's own first line: whoever has the database's URL may read it."""
    known = error.__context__ or error
    original = getattr(known, "orig", None) or known
    return str(original.__cause__ or original).splitlines()[0]
