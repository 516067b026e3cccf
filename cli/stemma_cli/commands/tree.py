"""`stemma tree`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, BranchName, Json, service_address, wants_json


def tree(
    context: typer.Context,
    session_id: Annotated[str, typer.Argument(metavar="SESSION_ID", show_default=False)],
    branch: BranchName = "main",
    whole: Annotated[
        bool, typer.Option("--whole", help="Draw every turn of long unforked runs too.", show_default=False)
    ] = False,
    address: Address = None,
    json: Json = False,
) -> None:
    """Draw a conversation: every turn, version and branch.

    The path of the branch goes straight down, marked ●; every other version hangs to its right. `stemma
    sessions` lists the ids.
    """
    from stemma_cli.client import connect
    from stemma_cli.output import Output
    from stemma_cli.trees.draw import show_tree

    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        session = client.get_session(session_id).session
        show_tree(out, client, session, branch, whole=whole)
