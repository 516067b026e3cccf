"""`stemma sessions`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, Json, service_address, wants_json


def sessions(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1_000, metavar="COUNT", help="How many, at most.")
    ] = 20,
    address: Address = None,
    json: Json = False,
) -> None:
    """List conversations with their ids, the latest first."""
    from stemma_cli.client import connect
    from stemma_cli.listing import show_sessions
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        show_sessions(out, client, limit)
