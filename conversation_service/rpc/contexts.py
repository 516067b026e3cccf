"""ContextService."""

from collections.abc import Hashable

from stemma.conversation.v1 import context_service_pb2 as pb
from stemma.kernel.v1 import context_pb2

from kernel.errors import NotFound, invalid
from kernel.generation.registry import Providers
from kernel.prompt.assemble import Entry
from kernel.prompt.config import without_keys
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, uuid_field
from kernel.runs.context import Assembled, Place, assemble
from kernel.runs.explain import Explained, diff, explain
from kernel.tree.model import PageContent
from kernel.verbs.env import MAIN, Env, ReadTx, known_session
from kernel.verbs.queries import known_floor, path_end
from kernel.verbs.records import Tip
from kernel.wire.byte_cache import ByteCache
from kernel.wire.config import config_pb
from kernel.wire.requests import config_of, content_of

# Of the 4 MiB that an answer may have; the rest is for the explanation.
_MAX_BYTES = 3 * 1024 * 1024 + 512 * 1024


class Contexts:
    def __init__(self, env: Env, providers: Providers, kept: ByteCache) -> None:
        self._env = env
        self._providers = providers
        self._kept = kept

    async def assemble_context(self, request: pb.AssembleContextRequest, call: Call) -> bytes:
        session_id = uuid_field(request.session_id, "session_id")
        floor_id = uuid_field(request.floor_id, "floor_id", required=False)
        if floor_id and request.branch:
            raise invalid("floor_id", "not together with branch")
        branch = branch_name(request.branch, MAIN)
        given = content_of(request.input.messages, "input.messages")
        overrides = config_of(request.options.overrides, "options.overrides", self._providers, call)
        tenant_id = call.identity.tenant_id
        # What is kept is kept under the request's options: not when they hold somebody's key.
        with_key = without_keys(overrides) is not overrides

        def key(tip: Tip | None) -> Hashable | None:
            """What the answer is a pure function of (T4); None for one that is not worth keeping."""
            if tip is None or tip.pending_floor_id is not None or given is not None or with_key:
                return None
            return tenant_id, session_id, tip, request.options.SerializeToString(deterministic=True)

        if given is None:
            tip = await self._env.store.tip(tenant_id, session_id, branch, floor_id)
            if (kept := self._kept.get(key(tip))) is not None:
                return kept
        async with self._env.store.reading(tenant_id) as tx:
            session = await known_session(tx, session_id)
            place = await _place(tx, session_id, branch, floor_id, given)
            assembled = await assemble(tx, self._env.codec, session, overrides, place, _MAX_BYTES)
            now = key(await tx.tip(session_id, branch, floor_id))
        # The stored bytes are the field's own encoding: they go out as they are.
        explanation = pb.AssembleContextResponse(explanation=_explanation(assembled))
        answer = assembled.context.blob + explanation.SerializeToString(deterministic=True)
        if now is not None:
            self._kept.put(now, answer)
        return answer

    async def explain_floor(self, request: pb.ExplainFloorRequest, call: Call) -> bytes:
        floor_id = uuid_field(request.floor_id, "floor_id")
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            explained = await explain(tx, self._env.codec, floor_id, _MAX_BYTES)
        options = config_pb(explained.options)
        rest = pb.ExplainFloorResponse(
            explanation=_explanation(explained.assembled),
            recorded=explained.recorded,
            model=options.model,
            budget=options.budget,
        )
        return explained.assembled.context.blob + rest.SerializeToString(deterministic=True)

    async def diff_contexts(self, request: pb.DiffContextsRequest, call: Call) -> pb.DiffContextsResponse:
        left = uuid_field(request.left_floor_id, "left_floor_id")
        right = uuid_field(request.right_floor_id, "right_floor_id")
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            found = await diff(tx, self._env.codec, left, right)
        return pb.DiffContextsResponse(
            left=_compared(found.left),
            right=_compared(found.right),
            removed=map(_entry, found.removed),
            added=map(_entry, found.added),
            kept=map(_entry, found.kept),
        )


async def _place(
    tx: ReadTx, session_id: str, branch_name: str, floor_id: str, given: PageContent | None
) -> Place:
    """Below the named floor or the branch's head; with a pending floor, below its parent."""
    if not floor_id:
        branch = await tx.branch(session_id, branch_name)
        if branch is None:
            raise NotFound("branch")
        if branch.pending_floor_id is not None:
            pending = await known_floor(tx, branch.pending_floor_id)
            parent = await known_floor(tx, pending.parent_floor_id or "")
            pages = [pending.input] if pending.input else []
            return Place(parent, pending.floor_id, pages, True, given)
    return Place(await path_end(tx, session_id, branch_name, floor_id), given=given)


def _explanation(assembled: Assembled) -> context_pb2.Explanation:
    selection = assembled.context.selection
    return context_pb2.Explanation(
        entries=map(_entry, selection.entries),
        left_out=[
            context_pb2.LeftOut(
                floor_id=out.floor_id,
                message_id=f"{out.page_id}.{out.index}" if out.page_id and out.floor_id else "",
                tokens=out.tokens,
                why=out.why,
                memory_id=out.memory_id,
            )
            for out in selection.left_out
        ],
        tokens_in=selection.tokens_in,
        tokens_on_path=selection.tokens_on_path,
        tokens_abandoned=assembled.tokens_abandoned,
        token_counter=assembled.token_counter,
        config_version=assembled.config_version,
        live_version=assembled.live_version,
        context_digest=assembled.context.digest,
        missing_variables=assembled.head.missing,
    )


def _entry(entry: Entry) -> context_pb2.ContextEntry:
    return context_pb2.ContextEntry(
        floor_id=entry.floor_id,
        page_id=entry.page_id if entry.message_id else "",
        message_id=entry.message_id,
        tokens=entry.fact.tokens,
        why=entry.why,
        memory_id=entry.memory_id,
    )


def _compared(explained: Explained) -> pb.ComparedContext:
    assembled, options = explained.assembled, config_pb(explained.options)
    return pb.ComparedContext(
        floor_id=explained.floor.floor_id,
        recorded=explained.recorded,
        tokens_in=assembled.context.selection.tokens_in,
        config_version=assembled.config_version,
        live_version=assembled.live_version,
        context_digest=assembled.context.digest,
        model=options.model,
        budget=options.budget,
    )
