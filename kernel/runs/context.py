"""What a model is sent at a place of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel.errors import Exhausted
from kernel.prompt.assemble import INPUT, PENDING, Context, Selection, Turn, render, select
from kernel.prompt.config import Config
from kernel.prompt.pairing import settle
from kernel.prompt.record import PromptRecord, options_text
from kernel.prompt.tokens import ESTIMATE
from kernel.runs.head import NO_HEAD, Head, head_of
from kernel.tree.model import Floor, FloorOutline, Page, PageContent, PageOutline
from kernel.verbs import configs
from kernel.verbs.env import Codec
from kernel.verbs.path_store import ContextReads
from kernel.verbs.records import Session
from kernel.verbs.state import visible_state

MAX_CONTEXT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Assembled:
    """A context with what explains it. `options` as in `PromptRecord`."""

    context: Context
    tokens_abandoned: int
    config_version: str
    live_version: str
    token_counter: str = ESTIMATE
    head: Head = NO_HEAD
    options: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to assemble: below a committed floor, with the pages of a pending one or of the call."""

    end: Floor
    floor_id: str = ""
    pending: Sequence[Page] = ()
    # Whether the pending pages are stored already, and so count as stored tokens.
    pending_stored: bool = False
    given: PageContent | None = None


async def assemble(
    tx: ContextReads, codec: Codec, session: Session, overrides: Config, place: Place, max_bytes: int
) -> Assembled:
    """The messages for the path to `place`, and why each is there.

    Reads the path's facts, chooses, reads only the bodies that were chosen, and pairs the calls and
    results of tools in them. RESOURCE_EXHAUSTED `LIMIT` when they exceed `max_bytes`; DATA_LOSS when a
    stored page fails its digest.
    """
    effective = await configs.of_session(tx, session, overrides)
    config = effective.config
    visible = await visible_state(tx, session, place.end, config)
    outlines, turns = await turns_of(tx, session, place)
    recency = {outline.floor_id: outline.depth for outline in outlines}
    head = head_of(codec, config, visible, recency)
    chosen = select(turns, config.budget, head.system, head.memory)
    bodies = await bodies_of(tx, session, place, outlines, chosen, max_bytes)
    selection = settle(turns, chosen, config.budget, bodies, codec, head.system, head.memory)
    context = render(selection, bodies, head.system, head.memory)
    refuse_too_large(len(context.blob), max_bytes)
    on_path = place.end.path_tokens + (
        sum(page.tokens for page in place.pending) if place.pending_stored else 0
    )
    return Assembled(
        context,
        max(0, session.stored_tokens - on_path),
        effective.version,
        visible.live_version,
        head=head,
        options=options_text(config),
    )


def record_of(assembled: Assembled, floor: Floor) -> PromptRecord:
    """What is kept with a floor that is written from this context."""
    context, head = assembled.context, assembled.head
    return PromptRecord(
        session_id=floor.session_id,
        floor_id=floor.floor_id,
        system=head.system,
        memory=head.memory,
        dropped=context.selection.dropped,
        missing=head.missing,
        options=assembled.options,
        token_counter=assembled.token_counter,
        config_version=assembled.config_version,
        live_version=assembled.live_version,
        tokens_abandoned=assembled.tokens_abandoned,
        context_digest=context.digest,
    )


async def turns_of(tx: ContextReads, session: Session, place: Place) -> tuple[list[FloorOutline], list[Turn]]:
    """The path's floors, after those of the prefix, by depth from 1 on; and all turns: theirs, then those of
    the place itself."""
    before = await tx.prefix_outline(session.session_id)
    own = await tx.path_outline(session.session_id, place.end.place, 1, place.end.place.depth)
    outlines = before + [one._replace(depth=one.depth + len(before)) for one in own] if before else own
    return outlines, [Turn(outline.floor_id, outline.pages) for outline in outlines] + _extra_turns(place)


async def bodies_of(
    tx: ContextReads,
    session: Session,
    place: Place,
    outlines: Sequence[FloorOutline],
    selection: Selection,
    max_bytes: int,
) -> dict[str, bytes]:
    """The stored blobs of the chosen messages, by page id; errors as those of `assemble`."""
    chosen = selection.page_ids
    kept = [o for o in outlines if any(page.page_id in chosen for page in o.pages)]
    refuse_too_large(sum(page.size for outline in kept for page in outline.pages), max_bytes)
    return await _bodies(tx, session, place, kept, len(outlines) - place.end.place.depth)


def refuse_too_large(size: int, max_bytes: int) -> None:
    """RESOURCE_EXHAUSTED `LIMIT` for a context of more bytes."""
    if size > max_bytes:
        raise Exhausted(
            "LIMIT", f"The context would exceed {max_bytes // 1024**2} MiB: set budget.max_input_tokens."
        )


def _extra_turns(place: Place) -> list[Turn]:
    turns = []
    if place.pending:
        outlines = tuple(PageOutline(p.page_id, p.content.facts, len(p.content.blob)) for p in place.pending)
        turns.append(Turn(place.floor_id, outlines, PENDING))
    if place.given is not None:
        turns.append(Turn("", (PageOutline(INPUT, place.given.facts, len(place.given.blob)),), INPUT))
    return turns


async def _bodies(
    tx: ContextReads, session: Session, place: Place, kept: Sequence[FloorOutline], prefix: int
) -> dict[str, bytes]:
    """By page id. The first `prefix` floors of what is kept count from the prefix's first."""
    bodies = {page.page_id: page.content.blob for page in place.pending}
    first, last = (kept[0].depth, kept[-1].depth) if kept else (1, 0)
    if first <= min(last, prefix):
        bodies.update(await tx.prefix_bodies(session.session_id, first, min(last, prefix)))
    if last > prefix:
        own_first = max(1, first - prefix)
        bodies.update(await tx.path_bodies(session.session_id, place.end.place, own_first, last - prefix))
    if place.given is not None:
        bodies[INPUT] = place.given.blob
    return bodies
