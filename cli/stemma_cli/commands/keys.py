"""`stemma keys`: who may call, where access is on."""

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stemma_cli.commands.migrate import Database
from stemma_cli.options import Address, Json, service_address, wants_json

Direct = Annotated[
    bool,
    typer.Option(
        "--direct",
        help="Without the service, on its database: for the first key of a tenant. A SQLite file must not be "
        "in use.",
        show_default=False,
    ),
]
Tenant = Annotated[
    str,
    typer.Option("--tenant", metavar="ID", help="Whose keys, --direct; else `local`.", show_default=False),
]
DatabaseUrl = Annotated[
    str,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="--direct on this; else STEMMA_CONVERSATION_DATABASE_URL, else conversation.db in STEMMA_DATA.",
        show_default=False,
    ),
]


class Role(StrEnum):
    """In every project of the tenant."""

    OBSERVER = "observer"
    CONTRIBUTOR = "contributor"
    OWNER = "owner"


class Scope(StrEnum):
    ADMIN = "admin"
    DRAFTS_INTERNAL = "drafts.internal"


def create(  # noqa: PLR0913, PLR0917 (an argument for each option)
    context: typer.Context,
    principal: Annotated[
        str,
        typer.Option(
            "--principal", "-p", metavar="NAME", help="Whose calls they will be.", show_default=False
        ),
    ],
    role: Annotated[
        Role | None,
        typer.Option(
            "--role", help="In every project; without it, the projects' members decide.", show_default=False
        ),
    ] = None,
    scope: Annotated[
        list[Scope] | None,
        typer.Option("--scope", help="What it may do besides: may be repeated.", show_default=False),
    ] = None,
    expires: Annotated[
        str,
        typer.Option(
            "--expires",
            metavar="TIME",
            help="From now on, as in 30d, 12h, 90m; else never.",
            show_default=False,
        ),
    ] = "",
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="What it is for.", show_default=False)
    ] = "",
    direct: Direct = False,
    tenant: Tenant = "",
    database_url: DatabaseUrl = "",
    address: Address = None,
    json: Json = False,
) -> None:
    """Make a key and print it, this once.

    The key alone goes to standard output, and what it is to standard error. It takes a key with the scope
    `admin`, in STEMMA_API_KEY; the first key of a tenant is made with --direct, or --tenant.
    """
    from stemma_cli.key_words import show_created
    from stemma_cli.keys import asked, keys_at
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    request = asked(principal, role or "", [one.value for one in scope or []], title, expires)
    with keys_at(service_address(context, address), direct, tenant, database_url) as keys:
        show_created(out, keys.create(request))


def list_(
    context: typer.Context,
    direct: Direct = False,
    tenant: Tenant = "",
    database_url: DatabaseUrl = "",
    address: Address = None,
    json: Json = False,
) -> None:
    """List the tenant's keys, the newest first, revoked and expired ones too."""
    from stemma_cli.key_words import show_keys
    from stemma_cli.keys import keys_at
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with keys_at(service_address(context, address), direct, tenant, database_url) as keys:
        show_keys(out, keys.all())


def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", show_default=False)],
    direct: Direct = False,
    tenant: Tenant = "",
    database_url: DatabaseUrl = "",
    address: Address = None,
    json: Json = False,
) -> None:
    """End a key: within a minute nobody can call with it any more."""
    from stemma_cli.key_words import show_revoked
    from stemma_cli.keys import keys_at
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with keys_at(service_address(context, address), direct, tenant, database_url) as keys:
        show_revoked(out, keys.revoke(key_id))


def reseal(
    context: typer.Context,
    only: Annotated[
        Database | None, typer.Option("--only", help="Leave the other database alone.", show_default=False)
    ] = None,
    data: Annotated[Path, typer.Option("--data", envvar="STEMMA_DATA", hidden=True)] = Path("data"),
    json: Json = False,
) -> None:
    """Bring every stored secret under the newest STEMMA_SECRET_KEY, so that the others can be left out.

    The databases are those of the settings. The services do the same by themselves, within the hour; this
    does it now, and says when nothing is left. A SQLite file must not be in use.
    """
    from stemma_cli.key_words import show_resealed
    from stemma_cli.keys import resealed
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    show_resealed(out, asyncio.run(resealed(data, [one for one in Database if only in (None, one)])))


COMMANDS = (create, list_, revoke, reseal)
