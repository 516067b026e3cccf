"""Erasing a person from both services."""

from typing import Any

from stemma_cli.calls.erasing import DraftErasingCalls
from stemma_cli.client import Client
from stemma_cli.output import Output, as_json
from stemma_cli.words import plural, printable


def erase(out: Output, client: Client, drafts: DraftErasingCalls, principal: str) -> None:
    """Prints both receipts, each as soon as it is there."""
    canon = client.erase_principal(principal)
    _say(out, "The conversation service", canon.receipt)
    made = drafts.erase_principal(principal)
    _say(out, "The draft service", made.receipt)
    out.answer_dict({"conversation": as_json(canon), "draft": as_json(made)})
    out.note(f"{printable(principal)} writes nothing any more; keys of theirs are worth nothing.")


def _say(out: Output, name: str, receipt: Any) -> None:
    taken = [f"{plural(one.rows, 'row')} of {one.store}" for one in receipt if one.rows]
    out.say(f"{name} erased {', '.join(taken) or 'nothing: it held nothing of theirs'}.")
