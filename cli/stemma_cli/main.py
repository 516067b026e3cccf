"""The `stemma` command."""

import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stemma_cli.commands.audit import COMMANDS as AUDIT
from stemma_cli.commands.bench import bench
from stemma_cli.commands.chat import chat
from stemma_cli.commands.doctor import doctor
from stemma_cli.commands.draft import draft
from stemma_cli.commands.erase import erase
from stemma_cli.commands.export import export
from stemma_cli.commands.import_ import import_
from stemma_cli.commands.keys import COMMANDS as KEYS
from stemma_cli.commands.migrate import migrate
from stemma_cli.commands.sessions import sessions
from stemma_cli.commands.staged import COMMANDS as STAGED
from stemma_cli.commands.tree import tree
from stemma_cli.commands.up import up
from stemma_cli.commands.verify import verify
from stemma_cli.errors import CliError
from stemma_cli.options import Address, Globals, Json

_EXAMPLES = """
[bold]Examples[/bold]
  stemma up                           [dim]start everything; Ctrl-C stops it[/dim]
  stemma chat                         [dim]go on talking, or begin[/dim]
  echo "Hello" | stemma chat --new    [dim]one message or command a line[/dim]
  stemma tree SESSION_ID              [dim]all that was said, abandoned turns too[/dim]
  stemma import conversations.json    [dim]bring what was said elsewhere[/dim]
  stemma sessions --json              [dim]what the API answered, for programs[/dim]
"""


class _Group(TyperGroup):
    """Every failure that a person can do something about is one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CliError as error:
            from stemma_cli.output import Output

            Output(as_json=bool(ctx.obj and ctx.obj.json)).error(error)
            raise typer.Exit(error.exit_code) from None


app = typer.Typer(
    name="stemma",
    cls=_Group,
    help="AI conversations as trees: edit, regenerate, roll back, and the model is sent exactly the path "
    "that you see.",
    epilog=_EXAMPLES,
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            print(f"stemma {importlib.metadata.version('stemma')}")
        except importlib.metadata.PackageNotFoundError:
            print("stemma, run from its source without being installed")
        raise typer.Exit


def _add(command: Callable[..., None], panel: str | None = None, to: typer.Typer = app) -> None:
    """Its docstring is its help, each paragraph flowing: typer would keep the line breaks."""
    paragraphs = (command.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    # One is named after a word of the language.
    to.command(command.__name__.rstrip("_"), help=text, rich_help_panel=panel)(command)


def _add_group(name: str, commands: Sequence[Callable[..., None]], panel: str, text: str) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    for command in commands:
        _add(command, to=group)
    app.add_typer(group, name=name, help=text, rich_help_panel=panel)


@app.callback()
def _globals(
    context: typer.Context,
    address: Address = None,
    json: Json = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version.", show_default=False
        ),
    ] = False,
) -> None:
    context.obj = Globals(address, json)


_add(up, "Run")
_add(doctor, "Run")
_add(migrate, "Run")
_add(verify, "Run")
_add(bench, "Run")
_add_group("keys", KEYS, "Run", "API keys, by which the services know who calls.")
_add_group("audit", AUDIT, "Run", "Who did what, and whether that was tampered with.")
_add(erase, "Run")
_add(chat, "Talk and look")
_add(tree, "Talk and look")
_add(sessions, "Talk and look")
_add(import_, "Files")
_add(export, "Files")
_add_group("staged", STAGED, "Drafts", "What waits for a decision before it becomes part of a conversation.")
app.add_typer(draft, rich_help_panel="Talk and look")
