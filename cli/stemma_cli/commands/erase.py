"""`stemma erase`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, Json, draft_address, service_address, wants_json


def erase(
    context: typer.Context,
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", show_default=False)],
    yes: Annotated[
        bool, typer.Option("--yes", help="Without it, nothing is done.", show_default=False)
    ] = False,
    drafts: Annotated[
        str | None,
        typer.Option(
            "--draft-address",
            metavar="HOST:PORT",
            help="Where the draft service listens, else STEMMA_DRAFT.",
            show_default=False,
        ),
    ] = None,
    address: Address = None,
    json: Json = False,
) -> None:
    """Erase a person: all that they wrote and are, for ever.

    In both services. From the first moment on they write nothing more. What others wrote stays, and what
    follows on the erased turns stays as it was. Cut off, do it again: it goes on where it was, and the
    receipt is of all of it. Takes a key of another principal with the scope `admin`.
    """
    from stemma_cli.client import connect, connect_draft_erasing
    from stemma_cli.erasing import erase as run
    from stemma_cli.errors import UsageError
    from stemma_cli.output import Output

    if not yes:
        raise UsageError("This cannot be undone: say --yes.")
    out = Output(as_json=wants_json(context, json))
    with (
        connect(service_address(context, address)) as client,
        connect_draft_erasing(draft_address(drafts)) as draft_client,
    ):
        run(out, client, draft_client, principal)
