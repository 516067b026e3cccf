"""A tree of nested replies, cut into its messages without recursion.

The format nests an answer inside of what it answers, so a talk of twenty turns is eighty levels of
JSON. The depth that is bounded is that of one message: each reply is cut out of the text, with a 0
in its place, and read alone.
"""

import re
from dataclasses import dataclass, field

from conversation_service.domain.imports.model import MAX_NODES
from conversation_service.domain.limits import LIMIT, Refused
from kernel.strict_json import NotJson

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_AFTER_KEY = re.compile(r"\s*:\s*")
_KEY = '"replies"'


@dataclass(slots=True)
class Piece:
    """The text of one message without its replies; `parent` is the piece it was cut from."""

    parent: int | None
    text: str = ""
    replies: int = 0


@dataclass(slots=True)
class _Open:
    """A piece whose end is not seen yet. `lists` are the depths of its open lists of replies."""

    number: int
    depth: int
    begin: int
    slices: list[str] = field(default_factory=list)
    lists: list[int] = field(default_factory=list)


def cut(text: str) -> list[Piece]:
    """The pieces in the order of their beginnings: the whole first, and replies in their order.

    Raises: NotJson, for brackets that do not pair up (other faults are left to who reads a piece);
        Refused (LIMIT), for too many messages.
    """
    pieces = [Piece(None)]
    stack = [_Open(0, 0, 0)]
    depth, key_end = 0, -1
    for match in _TOKEN.finditer(text):
        token, current = match.group(), stack[-1]
        if token in "[{":
            depth += 1
            if token == "[" and key_end != -1 and _AFTER_KEY.fullmatch(text, key_end, match.start()):
                current.lists.append(depth)
            elif token == "{" and current.lists and current.lists[-1] == depth - 1:
                current.slices.append(text[current.begin : match.start()])
                if len(pieces) > MAX_NODES:
                    raise Refused(LIMIT, f"The tree has more than {MAX_NODES} messages.")
                pieces.append(Piece(current.number))
                pieces[current.number].replies += 1
                stack.append(_Open(len(pieces) - 1, depth, match.start()))
        elif token in "]}":
            if current.lists and current.lists[-1] == depth:
                current.lists.pop()
            if depth == current.depth and len(stack) > 1:
                _finish(pieces, stack.pop(), text, match.end())
                stack[-1].slices.append("0")
                stack[-1].begin = match.end()
            depth -= 1
        elif len(token) == 1:
            raise NotJson("has a text that does not end")
        key_end = match.end() if token == _KEY else -1
    if len(stack) > 1 or depth != 0:
        raise NotJson("has brackets that do not pair up")
    _finish(pieces, stack[0], text, len(text))
    return pieces


def _finish(pieces: list[Piece], done: _Open, text: str, end: int) -> None:
    done.slices.append(text[done.begin : end])
    pieces[done.number].text = "".join(done.slices)
