"""What went wrong in a chat, and what to do about it there."""

from stemma.kernel.v1 import run_pb2

from stemma_cli.chat.conversation import Conversation
from stemma_cli.errors import ApiError, CliError


def explained(talk: Conversation, error: ApiError) -> CliError:
    """The error, with what to do in a chat; what the refusal tells of the branch is taken over."""
    if error.reason == "HEAD_MOVED":
        talk.refresh()
        branch = talk.branch
        return CliError(
            f"Somebody else moved {branch.name}, which is at turn {branch.depth} now. Nothing was done: "
            "/tree shows it; say it again to go on from there."
        )
    if error.reason == "FLOOR_PENDING":
        return CliError(
            f"A turn on {talk.branch.name} is unfinished, perhaps being answered elsewhere. "
            "Wait for it, or give it up with /abandon."
        )
    return error


def failure(failed: run_pb2.RunFailed) -> str:
    what = {
        "PROVIDER_UNAVAILABLE": "The model cannot be reached",
        "PROVIDER_TIMEOUT": "The model did not answer in time",
        "PROVIDER_INVALID": "The model refused, or answered nonsense",
        "LIMIT": "The reply or its context is too large",
        "CRASHED": "The service was stopped in the middle of the reply",
    }.get(failed.reason, "The reply failed")
    return f"{what} ({failed.reason}). The turn did not become part of the talk: /regenerate asks again."
