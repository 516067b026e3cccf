"""Columns of a batch as PostgreSQL takes them: one array each.

An array literal is one parameter of text, joined in one go. The driver would look at each element of a
list several times, which costs more than all else that is done for a turn here. Only what is large goes as
a list: as text, bytes are twice as long.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Boolean, Integer, LargeBinary, String
from sqlalchemy.types import TypeEngine

from kernel.storage.types import Id, Time

Encode = Callable[[Sequence[Any]], Any]


def encoder(kind: TypeEngine[Any], *, large: bool = False) -> Encode:
    """What makes an array of a column's values; absent ones are None. `large`: bytes that go as they are."""
    if large:
        return _as_it_is
    one = _ONE[next(known for known in _ONE if isinstance(kind, known))]

    def encode(values: Sequence[Any]) -> str:
        if values.count(None) == len(values):
            # What a shorter array lacks is NULL.
            return "{}"
        return "{" + ",".join(["NULL" if value is None else one(value) for value in values]) + "}"

    return encode


def _as_it_is(values: Sequence[Any]) -> Sequence[Any]:
    return values


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _hexadecimal(value: bytes) -> str:
    return "\\\\x" + value.hex()


_ONE: dict[type[TypeEngine[Any]], Callable[[Any], str]] = {
    Id: str,
    Time: lambda time: f'"{time.isoformat()}"',
    Integer: str,
    Boolean: lambda flag: "t" if flag else "f",
    LargeBinary: _hexadecimal,
    String: _quoted,
}
