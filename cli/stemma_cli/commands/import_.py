"""`stemma import`."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from stemma_cli.options import FORMATS, Address, Format, Json, service_address, wants_json


def import_(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="As they are, or packed with gzip or zip.", show_default=False),
    ],
    format: Annotated[
        Format | None,
        typer.Option("--format", metavar="NAME", help=f"{FORMATS}; else it is guessed.", show_default=False),
    ] = None,
    project_id: Annotated[
        str,
        typer.Option("--project", metavar="ID", help="Where to; else `default`.", show_default=False),
    ] = "",
    request_id: Annotated[
        UUID | None,
        typer.Option(
            "--request-id",
            metavar="UUID",
            help="Instead of one made from the file's content, its format and the project.",
            show_default=False,
        ),
    ] = None,
    address: Address = None,
    json: Json = False,
) -> None:
    """Bring conversations in from files, branches and all.

    Says of each what became of it: one that cannot be taken does not stop the others, and makes the exit
    code 1. Of a plain log it also says how many tokens it would have sent, against the tree.

    Interrupted? The same command again goes on where it stopped and makes nothing twice, for a day: the
    request id comes from the file's content.
    """
    from stemma_cli.client import connect
    from stemma_cli.files.run_import import Imports
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        Imports(out, client, project_id, str(request_id or "")).run(files, format)
