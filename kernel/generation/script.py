"""The script of the scripted provider: JSON, checked when it is loaded."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

_MAX_SCRIPT_BYTES = 1_048_576

Milliseconds = Annotated[int, Field(ge=0, le=600_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class ScriptError(ValueError):
    """The script cannot be used; the text says where and why, for whoever starts the server."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Failure(_Strict):
    """Fails with `reason` after `after` deltas of any kind."""

    reason: Literal["PROVIDER_UNAVAILABLE", "PROVIDER_INVALID", "PROVIDER_TIMEOUT", "LIMIT"]
    after: Count = 0


class ScriptedUsage(_Strict):
    tokens_in: Count
    tokens_out: Count


class ScriptedCall(_Strict):
    """A call of a tool.

    Attributes:
        name: Of the tool; whether there is one is not looked at.
        arguments: As an object. Null: none, which is an empty one.
        arguments_json: As text instead, sent as it stands, malformed or not.
        call_id: Null: one that no call before it in the context has. Those given may be used twice.
    """

    name: str
    arguments: dict[str, Any] | None = None
    arguments_json: str | None = None
    call_id: str | None = None

    @model_validator(mode="after")
    def _one_source_of_arguments(self) -> Self:
        if self.arguments is not None and self.arguments_json is not None:
            raise ValueError("give arguments or arguments_json, not both")
        return self

    @property
    def sent(self) -> str:
        """The arguments as they are sent."""
        return json.dumps(self.arguments or {}) if self.arguments_json is None else self.arguments_json


class Reply(_Strict):
    """One answer. Everything may be left out: then it is the default answer.

    Attributes:
        when: Answer only a last user message with exactly this text. Replies without it are cycled
            through, in order, by the requests that no `when` matches.
        after_results: Answer only when this many TOOL messages follow the last user message: 0 is the
            first answer to it, 1 the one after the results of that answer's calls, and so on. Where no
            reply is left for a number above 0, the default answer ends the turn.
        text: The answer, sent word by word. Null: the default answer, which says what was received, or
            nothing beside `tool_calls`.
        deltas: The answer in exactly these pieces, instead of `text`.
        tool_calls: Sent after the answer, one by one; each counts as a delta.
        reasoning: Sent before the answer, word by word.
        delay_ms: Waits this long before each delta.
        fail: Breaks off with an error.
        hang_after: Sends this many deltas, then nothing for ever.
        usage: The counts to report. Null: words received and deltas sent.
    """

    when: str | None = None
    after_results: Count = 0
    text: str | None = None
    deltas: list[Annotated[str, Field(min_length=1)]] | None = None
    tool_calls: list[ScriptedCall] = []
    reasoning: str = ""
    delay_ms: Milliseconds | None = None
    fail: Failure | None = None
    hang_after: Count | None = None
    usage: ScriptedUsage | None = None

    @model_validator(mode="after")
    def _one_source_of_text(self) -> Self:
        if self.text is not None and self.deltas is not None:
            raise ValueError("give text or deltas, not both")
        if self.fail is not None and self.hang_after is not None:
            raise ValueError("give fail or hang_after, not both")
        return self


class Script(_Strict):
    """What the scripted provider answers; an empty script gives the default answer always.

    Attributes:
        replies: See `Reply`.
        delay_ms: For replies that set none of their own.
    """

    replies: list[Reply] = []
    delay_ms: Milliseconds = 0


def load_script(source: str) -> Script:
    """Reads STEMMA_SCRIPT: inline JSON when it starts with `{`, else a file's path; "" is empty.

    Raises:
        ScriptError: The file cannot be read, or what it holds is no script.
    """
    source = source.strip()
    if not source:
        return Script()
    text = source if source.startswith("{") else _read(Path(source))
    try:
        return Script.model_validate_json(text)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'script'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False, include_context=False)
        )
        raise ScriptError(f"STEMMA_SCRIPT is not a valid script: {faults}") from None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise ScriptError(f"STEMMA_SCRIPT names a file that cannot be read: {error.strerror}") from None
    if len(data) > _MAX_SCRIPT_BYTES:
        raise ScriptError("STEMMA_SCRIPT names a file of more than 1 MiB.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ScriptError("STEMMA_SCRIPT names a file that is not UTF-8.") from None
