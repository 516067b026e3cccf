"""`stemma chat`."""

from typing import Annotated

import typer

from stemma_cli.options import Address, BranchName, Json, service_address, wants_json


def chat(
    context: typer.Context,
    session_id: Annotated[
        str,
        typer.Argument(
            metavar="SESSION_ID",
            help="The conversation to go on with; else the latest one.",
            show_default=False,
        ),
    ] = "",
    new: Annotated[bool, typer.Option("--new", help="Begin a new conversation.", show_default=False)] = False,
    branch: BranchName = "main",
    address: Address = None,
    json: Json = False,
) -> None:
    """Talk in the terminal; edit, regenerate, roll back as you go.

    Lines that begin with a slash are commands, /help lists them. Ctrl-C stops a reply and keeps what was
    written; Ctrl-D leaves. Lines may also come through a pipe, one message or command each.
    """
    from stemma_cli.chat.chat import Chat
    from stemma_cli.chat.loop import talk
    from stemma_cli.chat.opening import opened
    from stemma_cli.client import connect
    from stemma_cli.errors import UsageError
    from stemma_cli.output import Output

    if new and session_id:
        raise UsageError("--new begins another conversation: leave the SESSION_ID out, or --new.")
    out = Output(as_json=wants_json(context, json))
    with connect(service_address(context, address)) as client:
        conversation = opened(client, out, session_id=session_id, new=new, branch=branch)
        one = Chat(conversation, out)
        one.looking.show_tail()
        code = talk(one, out)
    raise typer.Exit(code)
