"""Explaining later what a model was sent, and comparing any two contexts (C4)."""

from collections import Counter
from dataclasses import dataclass

from kernel.errors import DataLoss
from kernel.prompt.assemble import MEMORY, Entry, lay_out, render
from kernel.prompt.config import Config
from kernel.prompt.config_text import config_from_text
from kernel.prompt.pairing import paired
from kernel.prompt.record import PromptRecord
from kernel.runs.context import (
    MAX_CONTEXT_BYTES,
    Assembled,
    Place,
    assemble,
    bodies_of,
    refuse_too_large,
    turns_of,
)
from kernel.runs.head import Head
from kernel.tree.blob import split
from kernel.tree.model import Floor
from kernel.verbs.configs import NO_CONFIG
from kernel.verbs.env import Codec, ReadTx, known_session
from kernel.verbs.queries import known_floor
from kernel.verbs.records import Session


@dataclass(frozen=True, slots=True)
class Explained:
    """A floor's context. `recorded`: it is what the floor's model was sent; else no model of this service
    wrote the floor, and it is what one would be sent now in the floor's place. `options` holds the
    model's parameters and the budget that went, or would go, with it."""

    floor: Floor
    recorded: bool
    assembled: Assembled
    options: Config


async def explain(tx: ReadTx, codec: Codec, floor_id: str, max_bytes: int = MAX_CONTEXT_BYTES) -> Explained:
    """Of a floor in any state. Of the root, which no turn holds: a context with nothing of the path.

    A recorded context is rebuilt from the record and pages that never change, so nothing that happened
    since shows in it; DATA_LOSS `DIGEST_MISMATCH` when it is not, byte for byte, what was sent.
    RESOURCE_EXHAUSTED `LIMIT` when its messages exceed `max_bytes`.
    """
    floor = await known_floor(tx, floor_id)
    session = await known_session(tx, floor.session_id)
    end = floor if floor.is_root else await known_floor(tx, floor.parent_floor_id or "")
    place = Place(end, floor.floor_id, [floor.input] if floor.input else [], pending_stored=True)
    record = await tx.prompt(floor.floor_id)
    if record is None:
        assembled = await assemble(tx, codec, session, NO_CONFIG, place, max_bytes)
    else:
        assembled = await _rebuilt(tx, codec, session, place, record, max_bytes)
    return Explained(floor, record is not None, assembled, config_from_text(assembled.options))


async def _rebuilt(
    tx: ReadTx, codec: Codec, session: Session, place: Place, record: PromptRecord, max_bytes: int
) -> Assembled:
    head = Head(record.system, record.memory, record.missing)
    outlines, turns = await turns_of(tx, session, place)
    stored = lay_out(turns, record.dropped, head.system, head.memory)
    bodies = await bodies_of(tx, session, place, outlines, stored, max_bytes)
    context = render(paired(turns, stored, bodies, codec), bodies, head.system, head.memory)
    if context.digest != record.context_digest:
        # The digest also tells a context of the time before calls were paired: it was sent as it is stored.
        context = render(stored, bodies, head.system, head.memory)
    if context.digest != record.context_digest:
        raise DataLoss(
            "DIGEST_MISMATCH",
            "The context is no longer what the model was sent: run `stemma verify`.",
            {"floor_id": record.floor_id},
        )
    refuse_too_large(len(context.blob), max_bytes)
    return Assembled(
        context,
        record.tokens_abandoned,
        record.config_version,
        record.live_version,
        record.token_counter,
        head,
        record.options,
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """Two contexts side by side. `removed` is only in the left one, `added` only in the right one, `kept`
    in both, as the right one has it; each in the order of its context."""

    left: Explained
    right: Explained
    removed: tuple[Entry, ...]
    added: tuple[Entry, ...]
    kept: tuple[Entry, ...]


async def diff(tx: ReadTx, codec: Codec, left_floor_id: str, right_floor_id: str) -> Difference:
    """The contexts of two floors, of whatever sessions, branches and states. Errors as those of `explain`."""
    left = await explain(tx, codec, left_floor_id)
    right = await explain(tx, codec, right_floor_id)
    before, after = _by_identity(left.assembled), _by_identity(right.assembled)
    return Difference(
        left,
        right,
        tuple(entry for key, entry in before.items() if key not in after),
        tuple(entry for key, entry in after.items() if key not in before),
        tuple(entry for key, entry in after.items() if key in before),
    )


def _by_identity(assembled: Assembled) -> dict[tuple[str, str, int], Entry]:
    """Entries by what makes two of them the same message: a page's message by its id and whether it is sent
    as it is stored, all else by its text. One that stands twice counts twice."""
    frames = {"": split(assembled.head.system.blob) if assembled.head.system else []}
    frames[MEMORY] = split(assembled.head.memory.blob)
    found: dict[tuple[str, str, int], Entry] = {}
    times: Counter[tuple[str, str]] = Counter()
    for entry in assembled.context.selection.entries:
        frame = entry.written or (b"" if entry.message_id else frames[entry.page_id][entry.index])
        text = frame.hex()
        same = (entry.message_id or entry.memory_id, text)
        found[*same, times[same]] = entry
        times[same] += 1
    return found
