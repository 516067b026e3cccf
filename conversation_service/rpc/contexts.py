"""ContextService."""

from collections.abc import Hashable
from dataclasses import dataclass

from stemma.conversation.v1 import context_service_pb2 as pb

from kernel.errors import NotFound, invalid
from kernel.generation.registry import Providers
from kernel.prompt.config import Config, without_keys
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, uuid_field
from kernel.runs.context import Assembled, Place, assemble
from kernel.runs.explain import Explained, diff, explain
from kernel.runs.prefetched import prefetched, stateless
from kernel.tree.model import PageContent
from kernel.verbs.configs import NO_CONFIG
from kernel.verbs.env import MAIN, Env, ReadTx, known_session
from kernel.verbs.path_store import Basis, ContextReads, PathSource
from kernel.verbs.queries import known_floor, path_end
from kernel.verbs.records import Tip
from kernel.wire.byte_cache import ByteCache
from kernel.wire.config import config_pb
from kernel.wire.explanations import entry_pb, explanation_bytes, explanation_pb
from kernel.wire.floor_bytes import delimited, tags
from kernel.wire.requests import config_of, content_of

# Of the 4 MiB that an answer may have; the rest is for the explanation.
_MAX_BYTES = 3 * 1024 * 1024 + 512 * 1024


_EXPLANATION = tags(pb.AssembleContextResponse.DESCRIPTOR)["explanation"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    session_id: str
    branch: str
    floor_id: str
    overrides: Config
    given: PageContent | None


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
        overrides = NO_CONFIG
        if request.options.HasField("overrides"):
            overrides = config_of(request.options.overrides, "options.overrides", self._providers, call)
        tenant_id = call.identity.tenant_id
        # What is kept is kept under the request's options: not when they hold somebody's key.
        with_key = without_keys(overrides) is not overrides

        def key(tip: Tip | None) -> Hashable | None:
            """What the answer is a pure function of (T4); None for one that is not worth keeping."""
            if tip is None or tip.pending_floor_id is not None or given is not None or with_key:
                return None
            return tenant_id, session_id, tip, request.options.SerializeToString(deterministic=True)

        wanted = _Wanted(session_id, branch, floor_id, overrides, given)
        assembled = tip = None
        async with self._env.store.glances(tenant_id) as source:
            if given is None:
                tip = await source.tip(session_id, branch, floor_id)
                if (kept := self._kept.get(key(tip))) is not None:
                    return kept
            basis = await source.basis(session_id, branch, floor_id)
            if basis is not None and basis.tip.pending_floor_id is None and stateless(basis):
                assembled, tip = await self._assembled(source, basis, wanted), basis.tip
        if assembled is None:
            async with self._env.store.reading(tenant_id) as tx:
                assembled, tip = await self._in_snapshot(tx, wanted)
        # The stored bytes are the field's own encoding: they go out as they are.
        answer = assembled.context.blob + delimited(_EXPLANATION, explanation_bytes(assembled))
        if (now := key(tip)) is not None:
            self._kept.put(now, answer)
        return answer

    async def _in_snapshot(self, tx: ReadTx, wanted: "_Wanted") -> tuple[Assembled, Tip | None]:
        basis = await tx.basis(wanted.session_id, wanted.branch, wanted.floor_id)
        if basis is not None and basis.tip.pending_floor_id is None:
            return await self._assembled(tx, basis, wanted, tx), basis.tip
        session = await known_session(tx, wanted.session_id)
        place = await _place(tx, wanted.session_id, wanted.branch, wanted.floor_id, wanted.given)
        assembled = await assemble(tx, self._env.codec, session, wanted.overrides, place, _MAX_BYTES)
        return assembled, None

    async def _assembled(
        self, source: PathSource, basis: Basis, wanted: "_Wanted", state: ContextReads | None = None
    ) -> Assembled:
        """Below the basis's end."""
        layers = basis.project.config, basis.session.config, wanted.overrides
        trimmed = any(config.budget.max_input_tokens is not None for config in layers)
        reads = await prefetched(source, basis, trimmed, _MAX_BYTES, state)
        place = Place(basis.end, given=wanted.given)
        return await assemble(reads, self._env.codec, basis.session, wanted.overrides, place, _MAX_BYTES)

    async def explain_floor(self, request: pb.ExplainFloorRequest, call: Call) -> bytes:
        floor_id = uuid_field(request.floor_id, "floor_id")
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            explained = await explain(tx, self._env.codec, floor_id, _MAX_BYTES)
        options = config_pb(explained.options)
        rest = pb.ExplainFloorResponse(
            explanation=explanation_pb(explained.assembled),
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
            removed=map(entry_pb, found.removed),
            added=map(entry_pb, found.added),
            kept=map(entry_pb, found.kept),
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
