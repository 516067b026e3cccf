"""The options that every command takes, before its name or after it."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from stemma_cli.errors import UsageError

DEFAULT_ADDRESS = "127.0.0.1:50051"
DEFAULT_DRAFT = "127.0.0.1:50052"
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/@]+):(\d{1,5})")

Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where the service listens, else STEMMA_CONVERSATION.",
        show_default=False,
    ),
]
DraftAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where the draft service listens, else STEMMA_DRAFT.",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print what the API answered, as JSON.", show_default=False)
]
BranchName = Annotated[str, typer.Option("--branch", metavar="NAME", help="The branch to go along.")]


class Format(StrEnum):
    """Of files with conversations, by the names that the API has for them."""

    STEMMA = "stemma"
    OASST = "oasst"
    CHATGPT = "chatgpt"
    LOG_JSONL = "log-jsonl"


FORMATS = "stemma, oasst, chatgpt or log-jsonl"


@dataclass(slots=True)
class Globals:
    """What stood before the command's name; `json` also after it, once the command has looked."""

    address: str | None = None
    json: bool = False


def wants_json(context: typer.Context, json: bool) -> bool:
    """Whether it stood in either place; remembered for whoever reports a failure."""
    context.obj.json = context.obj.json or json
    return bool(context.obj.json)


def service_address(context: typer.Context, address: str | None) -> str:
    """The option, the global option, the environment, the default: the first that is given."""
    chosen = address or context.obj.address or os.environ.get("STEMMA_CONVERSATION") or DEFAULT_ADDRESS
    return _checked(chosen)


def draft_address(address: str | None) -> str:
    """The option, the environment, the default: the first that is given."""
    return _checked(address or os.environ.get("STEMMA_DRAFT") or DEFAULT_DRAFT)


def _checked(chosen: str) -> str:
    match = _ADDRESS.fullmatch(chosen)
    if match is None or int(match[2]) > 65_535:
        raise UsageError(f"{chosen!r} is not an address: it looks like {DEFAULT_ADDRESS}.")
    if int(match[2]) == 0:
        raise UsageError(
            f"{chosen} asks for any free port: pass --address with the one that `stemma up` printed."
        )
    return chosen
