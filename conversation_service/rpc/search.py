"""FloorService, what finds messages."""

from stemma.conversation.v1 import floor_service_pb2 as pb
from stemma.kernel.v1 import message_pb2

from conversation_service.app.projects import DEFAULT_PROJECT
from conversation_service.app.search import Hit, Search, search
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import Gather, branch_name, enum_field, text_field, uuid_field
from kernel.rpc.tokens import Json, PageTokens
from kernel.tree.model import Place
from kernel.tree.words import words
from kernel.verbs.env import MAIN, Env
from kernel.verbs.search_store import IndexKey
from kernel.wire.requests import caller_of, listing

_MAX_WORDS, _MAX_QUERY = 64, 1_024
_DEFAULT_HITS, _MAX_HITS = 20, 100


class FloorSearch:
    def __init__(self, env: Env, tokens: PageTokens) -> None:
        self._env = env
        self._tokens = tokens

    async def search_messages(
        self, request: pb.SearchMessagesRequest, call: Call
    ) -> pb.SearchMessagesResponse:
        wanted = _wanted(request)
        filters: dict[str, Json] = {
            "s": wanted.session_id,
            "p": wanted.project_id,
            "w": list(wanted.words),
            "b": wanted.branch,
        }
        page = listing(self._tokens, request, call, filters)
        before = None if page.last is None else _key(*page.last)
        size = min(page.size, _MAX_HITS) if request.page_size else _DEFAULT_HITS
        found = await search(self._env, caller_of(call), wanted, before, size)
        return pb.SearchMessagesResponse(
            hits=[_hit_pb(hit) for hit in found.hits],
            next_page_token=page.token(_last(found.last)) if found.last else "",
            indexed_through=found.indexed_through,
        )


def _wanted(request: pb.SearchMessagesRequest) -> Search:
    if bool(request.session_id) == bool(request.project_id):
        raise invalid("session_id", "one of session_id and project_id is required, and only one")
    with Gather() as check:
        session_id = check(uuid_field, request.session_id, "session_id", required=False)
        project_id = check(
            uuid_field, request.project_id, "project_id", required=False, also=(DEFAULT_PROJECT,)
        )
        found = check(_words, request.query)
        scope = check(enum_field, request.scope, pb.SearchScope, "scope", pb.SEARCH_SCOPE_PATH)
        branch = check(branch_name, request.branch, MAIN)
    if scope == pb.SEARCH_SCOPE_PATH:
        return Search(session_id, project_id, found, branch)
    if request.branch:
        raise invalid("branch", "only with the scope PATH")
    return Search(session_id, project_id, found, None)


def _words(query: str) -> tuple[str, ...]:
    found = words(text_field(query, "query", maximum=_MAX_QUERY, required=True))
    if not found:
        raise invalid("query", "must have a word of letters or digits")
    if len(found) > _MAX_WORDS:
        raise invalid("query", f"must have at most {_MAX_WORDS} different words")
    return tuple(found)


def _key(position: int, segment: int, depth: int, number: int) -> IndexKey:
    return IndexKey(position, Place(segment, depth), number)


def _last(key: IndexKey) -> list[int]:
    return [key.position, key.place.segment, key.place.depth, key.number]


def _hit_pb(hit: Hit) -> pb.SearchHit:
    entry = hit.entry
    return pb.SearchHit(
        session_id=entry.session_id,
        floor_id=entry.floor_id,
        message_id=f"{entry.page_id}.{entry.message}",
        branch=hit.branch,
        role=message_pb2.Role.Name(int(hit.role)),
        snippet=hit.snippet,
    )
