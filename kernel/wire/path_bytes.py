"""Floors of a path as the contract's bytes, straight from rows of the store.

A path has a thousand floors, and most are alike: plain floors with a message on either side. Those are put
together from text and stored bytes in one pass; all others go by `floor_bytes`, with which
`tests/unit/test_path_bytes.py` compares every byte.
"""

from hashlib import sha256
from typing import Any

from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.errors import DataLoss
from kernel.tree.blob import split_bodies
from kernel.tree.digest import fails_its_digest, is_erased
from kernel.tree.model import FloorState, Position, Slot
from kernel.verbs.answers import Shown, last_message
from kernel.verbs.path_store import Few, PathRow, PathRows
from kernel.wire.byte_text import BYTES, LOW_BITS, NUMBERS, TWO_BYTES, number, text_of, text_tags
from kernel.wire.floor_bytes import delimited, floor_bytes, position_bytes, usage_bytes, varint

_FACT_BYTES = 5
# Places in a row.
INPUT_ID, OUTPUT_ID = 7, 13
# Of a page's body, behind its id.
_BODY = 2


_FLOOR, _PAGE, _MESSAGE = (
    text_tags(descriptor)
    for descriptor in (
        floor_pb2.Floor.DESCRIPTOR,
        message_pb2.Page.DESCRIPTOR,
        message_pb2.Message.DESCRIPTOR,
    )
)
# How a message begins that fills its blob, by the blob's length: no message begins with what is there else.
_FRAMES = [b"\xff"] * (1 << 14)
for _length in range((1 << 14) - 3):
    _frame = b"\x0a" + varint(_length)
    _FRAMES[_length + len(_frame)] = _frame
_ID, _DIGEST = NUMBERS[36], NUMBERS[64]
_COMMITTED = NUMBERS[floor_pb2.FloorState.Value(f"FLOOR_STATE_{FloorState.COMMITTED.name}")]


class Stamps:
    """Timestamps with their lengths, of microseconds since an epoch of so many seconds."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        # The last second, and how times in it begin: those with nanoseconds of five bytes, with their length.
        self._second: int | None = None
        self._begin, self._begin_long = "", ""

    def __call__(self, times: tuple[int, ...]) -> list[str]:
        stamps = []
        for time in times:
            second, rest = divmod(time, 1_000_000)
            if second != self._second:
                self._to(second)
            nanoseconds = rest * 1000
            if nanoseconds >> 28:
                low, middle = LOW_BITS[nanoseconds & 0x3FFF], LOW_BITS[nanoseconds >> 14 & 0x3FFF]
                stamps.append(f"{self._begin_long}{low}{middle}{NUMBERS[nanoseconds >> 28]}")
            else:
                end = number(nanoseconds)
                stamps.append(f"{NUMBERS[len(self._begin) + len(end)]}{self._begin}{end}")
        return stamps

    def _to(self, second: int) -> None:
        self._second = second
        self._begin = f"\x08{number((second + self._epoch) & 0xFFFF_FFFF_FFFF_FFFF)}\x10"
        self._begin_long = f"{NUMBERS[len(self._begin) + 5]}{self._begin}"


class _Sized(dict[str, str]):
    """Text with its length before it: of the few principals and sources that a path has."""

    def __missing__(self, value: str) -> str:
        raw = value.encode()
        self[value] = made = text_of(varint(len(raw)) + raw)
        return made


class _Tokens(dict[bytes, str]):
    """The tokens of a message, by its packed facts."""

    def __missing__(self, facts: bytes) -> str:
        self[facts] = made = number(int.from_bytes(facts[1:], "little"))
        return made


class _Side:
    """What the pages of one side begin with."""

    def __init__(self, slot: Slot, field: str) -> None:
        self.tag = _FLOOR[field]
        # Of whole pages: a partial one is not plain.
        self.digested = b"stemma.page.1" + bytes((slot, False))
        self.slot = f"{_PAGE['slot']}{NUMBERS[slot]}{_PAGE['token_count']}"


_INPUT, _OUTPUT = _Side(Slot.INPUT, "input_page"), _Side(Slot.OUTPUT, "output_page")
_PAGE_ID, _PAGE_FLOOR, _PAGE_DIGEST = (
    _PAGE["page_id"] + _ID,
    _PAGE["floor_id"] + _ID,
    _PAGE["digest"] + _DIGEST,
)
_SOURCE, _PAGE_TIME, _MESSAGES = _PAGE["source"], _PAGE["create_time"], _PAGE["messages"]
_MESSAGE_ID, _TOKENS, _BEFORE = _MESSAGE["message_id"], _MESSAGE["token_count"], _MESSAGE["parent_message_id"]
_NO_FRAME, _FIRST_ID = _FRAMES[0], NUMBERS[38]
_FLOOR_ID, _PRINCIPAL = _FLOOR["floor_id"] + _ID, _FLOOR["principal"]
_USAGE, _RUN = _FLOOR["usage"].encode(BYTES), _FLOOR["run_id"] + _ID
_DEPTH, _ORDINAL = _FLOOR["depth"], _FLOOR["ordinal"]
_STATE = f"{_FLOOR['state']}{_COMMITTED}{_FLOOR['path_tokens']}"
_CREATED, _ENDED = _FLOOR["create_time"], _FLOOR["commit_time"]
_PARENT, _SEALED = _FLOOR["parent_floor_id"] + _ID, _FLOOR["digest"] + _DIGEST

# A page as its fields and all that comes before a run of stored bytes, that run, and what comes after it.
_Parts = tuple[str, bytes, str]
_NO_PAGE: _Parts = ("", b"", "")


class LeftOut(Exception):
    """A row came without a body, which was too large to be read with the others."""


class PathWriter:
    """Writes floors of one path, one after the other, each as a field of a response with that tag.

    `above_id` is the floor above the first one, `before` the last message above its own.
    """

    def __init__(self, tag: bytes, session_id: str, rows: PathRows, above_id: str, before: str) -> None:
        self._tag, self._rows, self._text = text_of(tag), rows, rows.text
        self._session = f"{_FLOOR['session_id']}{_ID}{session_id}{_DEPTH}"
        self._above_id = above_id
        self._before = NUMBERS[len(before)] + before
        # Of the floors that were written.
        self.ids: list[str] = []
        self._sized, self._tokens = _Sized(), _Tokens()
        self._stamps = Stamps(rows.epoch)

    def floor(self, row: PathRow) -> bytes:
        """The next floor. Raises DATA_LOSS for a body that fails its digest, or is no page."""
        # Named one by one: slices would cost a tenth of all that is done here.
        (_, depth, key, ordinal, digest, path_tokens, principal,
         in_id, in_facts, in_blob, in_digest, in_tokens, in_source,
         out_id, out_facts, out_blob, out_digest, out_tokens, out_source, more, *times) = row  # fmt: skip
        few = None if more is None else self._rows.few(more)
        if more is not None and few is None:
            return self._other(row)
        created, asked_at, said_at, ended = self._stamps(self._rows.times(times))
        floor_id = self._text(key)
        asked_in, said_in, by_run = (floor_id, floor_id, "") if few is None else _told(few, floor_id)
        asked, asked_body, asked_end = self._page(
            _INPUT, asked_in, asked_at, in_id, in_facts, in_blob, in_digest, in_tokens, in_source
        )
        said, said_body, said_end = self._page(
            _OUTPUT, said_in, said_at, out_id, out_facts, out_blob, out_digest, out_tokens, out_source
        )
        begin = (
            f"{_FLOOR_ID}{floor_id}{self._session}{number(depth)}{_ORDINAL}{number(ordinal)}"
            f"{_STATE}{number(path_tokens)}{_CREATED}{created}{asked}"
        )
        by = f"{_PRINCIPAL}{self._sized[principal]}" if principal else ""
        end = f"{said_end}{_PARENT}{self._above_id}{_SEALED}{digest.hex()}{by_run}{by}{_ENDED}{ended}"
        size = len(begin) + len(asked_body) + len(asked_end) + len(said) + len(said_body) + len(end)
        self._above_id = floor_id
        self.ids.append(floor_id)
        return b"".join(
            (
                f"{self._tag}{NUMBERS[size] if size < TWO_BYTES else number(size)}{begin}".encode(BYTES),
                asked_body,
                f"{asked_end}{said}".encode(BYTES),
                said_body,
                end.encode(BYTES),
            )
        )

    def _page(
        self,
        side: _Side,
        floor_id: str,
        stamp: str,
        key: Any,
        facts: bytes,
        blob: bytes | None,
        digest: bytes,
        tokens: int,
        source: str,
    ) -> _Parts:
        if key is None:
            return _NO_PAGE
        if blob is None:
            raise LeftOut
        page_id = self._text(key)
        if sha256(side.digested + blob).digest() != digest and not is_erased(blob):
            raise fails_its_digest(page_id)
        frame = _FRAMES[len(blob)] if len(blob) < TWO_BYTES else _NO_FRAME
        if len(facts) == _FACT_BYTES and blob.startswith(frame):
            body, own = blob[len(frame) :], f"{_FIRST_ID}{page_id}.0"
            end = f"{_MESSAGE_ID}{own}{_TOKENS}{self._tokens[facts]}{_BEFORE}{self._before}"
            self._before = own
            size = len(body) + len(end)
            message = f"{_MESSAGES}{NUMBERS[size] if size < TWO_BYTES else number(size)}"
        else:
            body, end, message = self._messages(page_id, facts, blob), "", ""
            size = len(body)
        head = (
            f"{_PAGE_ID}{page_id}{_PAGE_FLOOR}{floor_id}{_PAGE_DIGEST}{digest.hex()}{side.slot}"
            f"{NUMBERS[tokens] if tokens < TWO_BYTES else number(tokens)}{_SOURCE}{self._sized[source]}"
            f"{_PAGE_TIME}{stamp}{message}"
        )
        size += len(head)
        return f"{side.tag}{NUMBERS[size] if size < TWO_BYTES else number(size)}{head}", body, end

    def _messages(self, page_id: str, facts: bytes, blob: bytes) -> bytes:
        try:
            bodies = split_bodies(blob)
        except ValueError:
            raise DataLoss("DIGEST_MISMATCH", "Stored bytes cannot be read: run `stemma verify`.") from None
        each = [facts[at : at + _FACT_BYTES] for at in range(0, len(facts), _FACT_BYTES)]
        shown: list[bytes] = []
        for index, (body, fact) in enumerate(zip(bodies, each, strict=True)):
            own = self._sized[f"{page_id}.{index}"]
            end = f"{_MESSAGE_ID}{own}{_TOKENS}{self._tokens[fact]}{_BEFORE}{self._before}".encode(BYTES)
            self._before = own
            shown += (f"{_MESSAGES}{number(len(body) + len(end))}".encode(BYTES), body, end)
        return b"".join(shown)

    def _other(self, row: PathRow) -> bytes:
        """A floor that is not plain."""
        if any(row[side] is not None and row[side + _BODY] is None for side in (INPUT_ID, OUTPUT_ID)):
            raise LeftOut
        floor = self._rows.floor(row)
        raw = floor_bytes(Shown(floor, self._before[1:]))
        if last := last_message(floor):
            self._before = NUMBERS[len(last)] + last
        self._above_id = floor.floor_id
        self.ids.append(floor.floor_id)
        return self._tag.encode(BYTES) + varint(len(raw)) + raw


def _told(few: Few, floor_id: str) -> tuple[str, str, str]:
    """The floors of both pages, and the fields of the run."""
    usage = "" if few.usage is None else text_of(delimited(_USAGE, usage_bytes(few.usage)))
    run = f"{_RUN}{few.run_id}" if few.run_id else ""
    return few.input_floor_id or floor_id, few.output_floor_id or floor_id, usage + run


class Alone:
    """Positions of floors without siblings, each as a field of a response with that tag."""

    def __init__(self, tag: bytes) -> None:
        self._made = {
            (one, other): _alone(tag, one, other) for one in (False, True) for other in (False, True)
        }

    def position(self, floor_id: str, has_input: bool, has_output: bool) -> bytes:
        return self._made[has_input, has_output] % floor_id.encode()


def _alone(tag: bytes, has_input: bool, has_output: bool) -> bytes:
    """To be filled in with a floor's id."""
    sample = "0" * 36
    body = position_bytes(Position(sample, has_input, has_input, has_output, has_output))
    return delimited(tag, body).replace(b"%", b"%%").replace(sample.encode(), b"%b")


def above(rows: PathRows) -> tuple[str, str] | None:
    """Of the first row: its floor's id, and the id of the last message down to it; None when that is further
    up, above floors without messages."""
    row = rows.rows[0]
    floor_id = rows.text(row[2])
    for page_id, facts in ((row[13], row[14]), (row[7], row[8])):
        if facts:
            return floor_id, f"{rows.text(page_id)}.{len(facts) // _FACT_BYTES - 1}"
    return (floor_id, "") if row[1] == 0 else None
