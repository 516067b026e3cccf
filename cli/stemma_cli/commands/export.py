"""`stemma export`."""

from typing import Annotated

import typer

from stemma_cli.options import FORMATS, Address, Format, Json, service_address, wants_json


def export(
    context: typer.Context,
    session_id: Annotated[str, typer.Argument(metavar="SESSION_ID", show_default=False)],
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"{FORMATS}. `stemma` holds everything, the others what is committed.",
        ),
    ] = Format.STEMMA,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|-",
            help="Where to, `-` is standard output; else a file here named after the session.",
            show_default=False,
        ),
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file if it is there.", show_default=False)
    ] = False,
    address: Address = None,
    json: Json = False,
) -> None:
    """Write a conversation to a file, branches and all.

    The file is there when all of it is, and not before. `stemma import` takes it back, here or elsewhere.
    """
    from stemma_cli.client import connect
    from stemma_cli.files.exporting import export as write
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        write(out, client, session_id, format, output=output, force=force)
