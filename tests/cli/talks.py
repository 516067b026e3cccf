"""What the scripted provider says in these tests, and what the command is told to do."""

import json
import re
from collections.abc import Sequence
from typing import Any

from tests.cli.programs import Done, in_process
from tests.support.service import RunningService

SCRIPT = json.dumps(
    {
        "replies": [
            {"when": "endless", "text": "one two three four", "hang_after": 3},
            {"when": "silent", "text": "nothing", "reasoning": "Hm. ", "hang_after": 1},
            {
                "when": "break",
                "text": "it breaks here",
                "fail": {"reason": "PROVIDER_TIMEOUT", "after": 2},
            },
            {"when": "steer", "text": "\x1b[31mred\x1b]0;title\x07 \u202etxt"},
            {"when": "think", "text": "An answer.", "reasoning": "Let me see."},
        ]
    }
)


async def chat(service: RunningService, *lines: str, arguments: Sequence[str] = ("--new",)) -> Done:
    """A chat with lines as from a pipe."""
    return await in_process("chat", *arguments, lines=lines, STEMMA_CONVERSATION=service.address)


def session_of(done: Done) -> str:
    """The session that a chat said it is about."""
    found = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", done.out)
    assert found, done
    return found[0]


def documents(done: Done) -> list[dict[str, Any]]:
    """The JSON lines of a command."""
    return [json.loads(line) for line in done.lines]


def sent_messages(service: RunningService, index: int = -1) -> list[tuple[str, str]]:
    """(role, text) of every message of a request that the model got."""
    return [(message.role.name.lower(), message.text) for message in service.sent[index].messages]


def shown_messages(text: str) -> list[tuple[str, str]]:
    """(role, text) of every message that `/context` shows, in a chat through a pipe."""
    begin = text.rindex("What the model was sent for turn")
    block = text[begin : text.index("Left out:", begin)].splitlines()[1:]
    messages: list[tuple[str, list[str]]] = []
    for line in block:
        if head := re.match(r"\d+\. (\w+)  \(", line):
            messages.append((head[1], []))
        else:
            assert line.startswith("   "), line
            messages[-1][1].append(line[3:])
    return [(role, "\n".join(lines)) for role, lines in messages]


def tax_of(text: str) -> int:
    """The token tax that the last `/context` tells."""
    return int(re.findall(r"^Token tax avoided: ([\d,]+) ", text, re.MULTILINE)[-1].replace(",", ""))
