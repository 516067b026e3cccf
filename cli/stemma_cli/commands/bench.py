"""`stemma bench`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, Json, service_address, wants_json


def bench(
    context: typer.Context,
    callers: Annotated[
        int, typer.Option("--callers", "-c", min=1, max=256, metavar="COUNT", help="How many call at once.")
    ] = 8,
    seconds: Annotated[
        float, typer.Option("--seconds", "-s", min=0.1, max=600, help="How long, for each kind of call.")
    ] = 5.0,
    address: Address = None,
    json: Json = False,
) -> None:
    """Load a running service: calls a second, and how long one takes.

    Appends turns to new conversations, one for each caller, then reads their paths, and deletes them. Says
    what this service does on this machine; `make bench` compares it with what would be possible.
    """
    from stemma_cli.client import connect
    from stemma_cli.loading import load
    from stemma_cli.output import Output

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        load(out, client, callers, seconds)
