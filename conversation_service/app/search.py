"""Finding messages by their words, in a session or in all of a project."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from conversation_service.app.events import feed_of
from kernel.errors import DataLoss, NotFound
from kernel.tree.message import Message
from kernel.tree.model import Floor, Role
from kernel.tree.whereabouts import Whereabouts
from kernel.tree.words import snippet
from kernel.verbs.env import MAIN, Caller, Env, ReadTx, known_session
from kernel.verbs.search_store import Indexed, IndexEntry, IndexKey, WordQuery

log = structlog.get_logger(__name__)

# Entries that one page looks at: those that are not on the path do not show, but cost as much.
_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Search:
    """`branch`: only what is on its path; None: every committed floor. Either id is empty."""

    session_id: str
    project_id: str
    words: tuple[str, ...]
    branch: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A message, and the first branch that has it on its path, if any."""

    entry: IndexEntry
    branch: str
    role: Role
    snippet: str


@dataclass(slots=True)
class Found:
    """A page of hits, newest first. `last`: where the next one goes on, None on the last page."""

    hits: list[Hit] = field(default_factory=list)
    last: IndexKey | None = None
    indexed_through: int = 0


async def search(env: Env, caller: Caller, wanted: Search, before: IndexKey | None, limit: int) -> Found:
    """NOT_FOUND for a session, a project, or in a session a branch, that there is not."""
    project_id = "" if wanted.session_id else await feed_of(env, caller, wanted.project_id)
    async with env.store.reading(caller.tenant_id) as tx:
        if wanted.session_id:
            project_id = (await known_session(tx, wanted.session_id)).project_id
            if wanted.branch is not None and await tx.branch(wanted.session_id, wanted.branch) is None:
                raise NotFound("branch")
        query = WordQuery(project_id, wanted.session_id, wanted.words)
        entries = await tx.search(query, before, _LOOKED_AT + 1)
        found = Found(indexed_through=(await tx.indexed(project_id) or Indexed()).position)
        branches = _Branches(tx, wanted.branch)
        for entry in entries[:_LOOKED_AT]:
            if len(found.hits) == limit:
                return found
            branch = await branches.of(entry)
            found.last = entry.key
            if branch or wanted.branch is None:
                found.hits += await _hit(tx, env, entry, branch, wanted.words)
        if len(entries) <= _LOOKED_AT:
            found.last = None
        return found


async def _hit(tx: ReadTx, env: Env, entry: IndexEntry, branch: str, words: Sequence[str]) -> list[Hit]:
    """The hit; none where the floor is damaged: that must not hide what others hold."""
    try:
        floor = await tx.floor(entry.floor_id)
    except DataLoss as error:
        log.error("a damaged floor is not found", floor_id=entry.floor_id, **error.metadata)
        return []
    assert floor is not None, "an entry goes with its session"
    message = _message(env, floor, entry)
    return [Hit(entry, branch, message.role, snippet(message.text, words))]


def _message(env: Env, floor: Floor, entry: IndexEntry) -> Message:
    page = next(page for page in floor.pages if page.page_id == entry.page_id)
    return env.codec.messages(page.content.blob)[entry.message]


class _Branches:
    """On which branch an entry is; each session is looked at once."""

    def __init__(self, tx: ReadTx, only: str | None) -> None:
        self._tx = tx
        self._only = only
        self._known: dict[str, Whereabouts] = {}

    async def of(self, entry: IndexEntry) -> str:
        session_id = entry.session_id
        if session_id not in self._known:
            heads = await self._tx.heads(session_id)
            if self._only is not None:
                heads = [head for head in heads if head[0] == self._only]
            heads.sort(key=lambda head: head[0] != MAIN)
            self._known[session_id] = Whereabouts(heads, await self._tx.segments(session_id))
        return self._known[session_id].branch_of(entry.key.place)
