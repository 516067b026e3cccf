"""`stemma verify`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, Json, service_address, wants_json


def verify(
    context: typer.Context,
    session_ids: Annotated[list[str] | None, typer.Argument(metavar="SESSION_ID", show_default=False)] = None,
    whole: Annotated[bool, typer.Option("--all", help="Every session there is.", show_default=False)] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write derived counts and copies anew.", show_default=False)
    ] = False,
    address: Address = None,
    json: Json = False,
) -> None:
    """Check what is stored: digests, places, counts, heads, state.

    Derives all of it again and prints what disagrees, one line a problem. Exit code 1 when there is any.
    Changes nothing; with --repair it writes counts and copies anew that can be derived, and nothing else.
    """
    from stemma_cli.client import connect
    from stemma_cli.errors import UsageError
    from stemma_cli.output import Output
    from stemma_cli.verifying import verify as run

    if whole == bool(session_ids):
        raise UsageError("Say which sessions, or --all for every one of them.")
    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        if session_ids:
            run(out, client, session_ids, total=len(session_ids), repair=repair)
        else:
            run(out, client, client.every_session_id(), total=None, repair=repair)
