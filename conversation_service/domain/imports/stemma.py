"""Stemma's own files, without loss: see `exports.stemma` for the lines.

Every digest that the file states is derived again; one that differs refuses its session. Lines may
come in any order after the session's first; several sessions may follow each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from conversation_service.domain.exports.model import (
    ExportBranch,
    ExportFloor,
    ExportLive,
    ExportPage,
    ExportTree,
)
from conversation_service.domain.exports.stemma import VERSION
from conversation_service.domain.imports.model import (
    MAX_CONVERSATION_BYTES,
    MAX_JSON_BYTES,
    MAX_NODES,
    BadConversation,
    Encode,
    NativeConversation,
    Warnings,
    title_of,
)
from conversation_service.domain.imports.native import checked
from conversation_service.domain.imports.text import TooLong, lines
from conversation_service.domain.limits import LIMIT, Refused, refuse
from conversation_service.domain.message_json import message_of
from kernel.strict_json import NotJson, loads
from kernel.tree.model import FloorState, Slot, Usage

SOURCE = "import:stemma"
_COUNT = 2**53


def read(
    chunks: Iterable[bytes], encode: Encode, first: int = 0
) -> Iterator[NativeConversation | BadConversation]:
    """The sessions of a file, numbered from `first`."""
    session: _Session | None = None
    index = first
    for number, line in lines(chunks, MAX_JSON_BYTES):
        value, fault = _value(line)
        if session is None or session.complete or (value and value.get("kind") == "session"):
            if session is not None:
                yield session.finished(encode)
                index += 1
            session = _Session(index)
        session.add(number, line, value, fault)
    if session is not None:
        yield session.finished(encode)


def _value(line: bytes | TooLong) -> tuple[dict[str, Any] | None, Refused | None]:
    if isinstance(line, TooLong):
        return None, Refused(LIMIT, f"is longer than {MAX_JSON_BYTES} bytes.")
    try:
        value = loads(line)
    except NotJson as error:
        return None, Refused(error.reason, f"{error}.")
    return (value, None) if isinstance(value, dict) else (None, refuse("is not an object."))


@dataclass(slots=True)
class _Session:
    """The lines of one session. After the first bad line nothing more is kept."""

    index: int
    fault: Refused | None = None
    title: str = ""
    header: dict[str, Any] | None = None
    pages: dict[str, ExportPage] = field(default_factory=dict)
    floors: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    warnings: Warnings = field(default_factory=Warnings)
    sha: Any = field(default_factory=sha256)
    bytes_left: int = MAX_CONVERSATION_BYTES

    def add(
        self, number: int, line: bytes | TooLong, value: dict[str, Any] | None, fault: Refused | None
    ) -> None:
        if self.fault is not None:
            self.end = value if value and value.get("kind") == "end" else self.end
            return
        try:
            if fault is not None or value is None or isinstance(line, TooLong):
                raise fault or refuse("is not an object.")
            self.sha.update(line + b"\n")
            self.bytes_left -= len(line)
            if self.bytes_left < 0 or len(self.pages) + len(self.floors) > MAX_NODES:
                raise Refused(LIMIT, "is one too many: the session is larger than a file may hold.")
            kind = value.get("kind")
            if not isinstance(kind, str) or kind not in _KINDS:
                raise refuse("is of an unknown kind.")
            _KINDS[kind](self, value)
        except Refused as refused:
            self._fail(Refused(refused.reason, f"Line {number}: {refused.message}"))

    @property
    def complete(self) -> bool:
        """Whether nothing of it can follow, so that another line is of another session."""
        return self.end is not None and (self.fault is not None or self._counted)

    @property
    def _counted(self) -> bool:
        end = self.end or {}
        return (end.get("floors"), end.get("pages")) == (len(self.floors), len(self.pages))

    def _fail(self, fault: Refused) -> None:
        self.fault = fault
        self.pages.clear()
        self.floors.clear()

    def session(self, value: dict[str, Any]) -> None:
        if value.get("stemma") != VERSION:
            raise refuse(f"is of a version other than {VERSION}.")
        self.title = title_of(value.get("title"), self.warnings)
        self.header = value

    def page(self, value: dict[str, Any]) -> None:
        messages = value.get("messages")
        slot = {"input": Slot.INPUT, "output": Slot.OUTPUT}.get(_text(value, "slot"))
        page_id = _text(value, "page_id", required=True)
        if not isinstance(messages, list) or slot is None or page_id in self.pages:
            raise refuse("is no page, or one that was there before.")
        self.pages[page_id] = ExportPage(
            page_id,
            slot,
            tuple(message_of(message) for message in messages),
            _text(value, "digest"),
            _flag(value, "partial"),
            _text(value, "source"),
        )

    def floor(self, value: dict[str, Any]) -> None:
        self.floors.append(value)

    def last(self, value: dict[str, Any]) -> None:
        self.end = value

    def finished(self, encode: Encode) -> NativeConversation | BadConversation:
        title = self.title or f"session {self.index + 1}"
        try:
            if self.fault is not None:
                raise self.fault
            tree = checked(self._tree(), encode, self.warnings)
        except Refused as refused:
            return BadConversation(self.index, title, refused.reason, refused.message)
        return NativeConversation(self.index, tree, self.warnings.sentences(), SOURCE, self.sha.digest())

    def _tree(self) -> ExportTree:
        if self.header is None:
            raise refuse("The session's first line is missing.")
        if self.end is None:
            raise refuse("The session is cut off: its last line is missing.")
        if not self._counted:
            raise refuse("The session is cut off: some of its floors or pages are missing.")
        branches = self.header.get("branches")
        if not isinstance(branches, list):
            raise refuse("The session has no list of branches.")
        return ExportTree(
            self.title,
            _text(self.header, "root_floor_id", required=True),
            tuple(_branch(branch) for branch in branches),
            [self._floor(value) for value in self.floors],
            _text(self.header, "config_json"),
            tuple(_live(value) for value in _list(self.header, "live")),
            _number(self.header.get("live_version", 1)),
        )

    def _floor(self, value: dict[str, Any]) -> ExportFloor:
        candidates = value.get("candidates", [])
        state = _text(value, "state")
        if not isinstance(candidates, list) or state not in set(FloorState):
            raise refuse("A floor has an unknown state, or no list of candidates.")
        return ExportFloor(
            _text(value, "floor_id", required=True),
            _text(value, "parent_floor_id", required=True),
            _number(value.get("ordinal", 0)),
            FloorState(state),
            self._side(value.get("input"), Slot.INPUT),
            self._side(value.get("output"), Slot.OUTPUT),
            _text(value, "digest"),
            tuple(self._page(page_id) for page_id in candidates),
            _text(value, "failure_reason"),
            _usage(value.get("usage")),
            _text(value, "branch"),
            _text(value, "create_time"),
            _text(value, "commit_time"),
            _text(value, "effects_json"),
            _brought(value.get("brought", {})),
        )

    def _side(self, page_id: object, slot: Slot) -> ExportPage | None:
        if page_id is None:
            return None
        page = self._page(page_id)
        if page.slot is not slot:
            raise refuse("A floor has a page of the other side.")
        return page

    def _page(self, page_id: object) -> ExportPage:
        page = self.pages.get(page_id) if isinstance(page_id, str) else None
        if page is None:
            raise refuse("A floor has a page that is not in the file.")
        return page


_KINDS: Mapping[str, Callable[[_Session, dict[str, Any]], None]] = {
    "session": _Session.session,
    "page": _Session.page,
    "floor": _Session.floor,
    "end": _Session.last,
}


def _branch(value: object) -> ExportBranch:
    if not isinstance(value, dict):
        raise refuse("A branch is not an object.")
    return ExportBranch(
        _text(value, "name", required=True),
        _text(value, "head_floor_id", required=True),
        _text(value, "pending_floor_id") or None,
        _text(value, "failed_floor_id") or None,
    )


def _live(value: object) -> ExportLive:
    if not isinstance(value, dict):
        raise refuse("A live value is not an object.")
    key, text = _text(value, "key", required=True), _text(value, "value_json", required=True)
    return ExportLive(key, text, _number(value.get("version")))


def _brought(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise refuse("What the versions of a floor brought is not an object of texts.")
    return value


def _list(value: Mapping[str, Any], name: str) -> list[object]:
    held = value.get(name, [])
    if not isinstance(held, list):
        raise refuse(f"A member {name} is not a list.")
    return held


def _usage(value: object) -> Usage | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise refuse("A floor's usage is not an object.")
    tokens_in, tokens_out = _number(value.get("tokens_in")), _number(value.get("tokens_out"))
    return Usage(tokens_in, tokens_out, _flag(value, "estimated"))


def _text(value: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    held = value.get(name, "")
    if not isinstance(held, str) or (required and not held):
        raise refuse(f"A member {name} is missing or not text.")
    return held


def _flag(value: Mapping[str, Any], name: str) -> bool:
    held = value.get(name, False)
    if not isinstance(held, bool):
        raise refuse(f"A member {name} is neither true nor false.")
    return held


def _number(held: object) -> int:
    if not isinstance(held, int) or isinstance(held, bool) or not 0 <= held < _COUNT:
        raise refuse("A number is missing, negative or too large.")
    return held
