"""`stemma up`."""

import os
from typing import Annotated

import typer

from stemma_cli.options import Json, wants_json


def up(
    context: typer.Context,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log every call too.", show_default=False)
    ] = False,
    json: Json = False,
) -> None:
    """Start everything here: both services and their REST gateway.

    Ctrl-C stops it. Settings are the STEMMA_ variables: STEMMA_HTTP, STEMMA_CONVERSATION and STEMMA_DRAFT say
    where to listen (port 0 picks one), STEMMA_DATA where everything is kept, STEMMA_PROVIDER who answers.
    Warnings and errors go to standard error.
    """
    from stemma_cli.output import Output
    from stemma_cli.running.up import run

    run(Output(as_json=wants_json(context, json)), os.environ, verbose=verbose)
