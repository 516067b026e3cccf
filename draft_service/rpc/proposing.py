"""What models propose in drafts: checked against what was frozen, and kept in the draft.

Nothing here leads out of the draft: whoever made it exports a proposal, or nobody does (D6).
"""

from typing import Any
from uuid import UUID, uuid5

from stemma.kernel.v1 import effects_pb2, staged_write_pb2

from draft_service.app.ending import of_drafts
from draft_service.app.store import WriteTx
from draft_service.domain.draft import Draft
from draft_service.domain.exports import Proposal
from draft_service.rpc.config_shown import config_shown
from kernel.errors import Invalid
from kernel.generation.registry import Providers
from kernel.prompt import json_patch
from kernel.prompt.config import Config
from kernel.prompt.merge_patch import members
from kernel.state.fold import UnknownMemory, apply
from kernel.state.model import Effects, Origin, Scope
from kernel.strict_json import dumps, loads
from kernel.tools.builtin import ToolFault
from kernel.tools.state import Scene
from kernel.verbs import store as kernel
from kernel.verbs.configs import NO_CONFIG
from kernel.verbs.effects import identified
from kernel.verbs.pages import MODEL
from kernel.verbs.records import RecordedCall
from kernel.verbs.staged_store import StagedConfig, StagedEffects
from kernel.wire.config_patch import does_not_apply, patch_of, patched
from kernel.wire.staged import part_of

MAX_PROPOSALS = 100
_OF_PROJECT = "A project has values of its own only: write variables, each with the scope project."
_OF_SESSION = (
    "The conversation's own configuration lies over its project's: propose only `add`, each of a whole field."
)


class Proposing:
    """`kernel.tools.proposals.Proposals`, in a draft's own rows."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers

    async def answer(self, tx: kernel.WriteTx, scene: Scene, call: RecordedCall, tenant_id: str) -> str:
        own = of_drafts(tx)
        draft = await own.draft(scene.session.session_id)
        frozen = await own.project(scene.session.project_id)
        assert draft is not None, "its session is locked, and takes writes"
        assert frozen is not None, "a session's project exists (foreign key)"
        try:
            match call.name:
                case "get_config":
                    return config_shown(frozen.config, bool(draft.source.session_id), call.arguments)
                case "propose_config_patch":
                    part = self._config(draft, frozen.config, call.arguments, tenant_id)
                    return await _kept(own, draft, scene, call, part)
                case _:
                    return await _kept(own, draft, scene, call, await _state(own, draft, scene, call))
        except Invalid as error:
            raise ToolFault("; ".join(f"{v.field} {v.description}" for v in error.violations)) from None

    def _config(self, draft: Draft, frozen: Config, arguments: str, tenant_id: str) -> StagedConfig:
        """Applied to the layer that it is for. Of a session's own one, nobody knows here what it says: so
        what applies to an empty one, and makes a valid configuration, will apply."""
        text = members(arguments)["operations"]
        patch = patch_of(text, "operations")
        of_session = bool(draft.source.session_id)

        def admitted(config: Config) -> Config:
            return self._providers.admitted(config, "config", tenant_id)

        try:
            patched(NO_CONFIG if of_session else frozen, patch, "config", admitted)
        except json_patch.DoesNotApply as fault:
            why = does_not_apply(fault)
            raise ToolFault(f"{why} {_OF_SESSION}" if of_session else why) from None
        return StagedConfig(text)


async def _state(tx: WriteTx, draft: Draft, scene: Scene, call: RecordedCall) -> StagedEffects:
    part = part_of(staged_write_pb2.StagedPart(state_patch={"effects": _effects(call.arguments)}), "")
    assert isinstance(part, StagedEffects)
    if not draft.source.session_id and not _of_project(part.effects):
        raise ToolFault(_OF_PROJECT)
    root = await tx.floor(scene.session.root_floor_id)
    assert root is not None, "every session has its root"
    try:
        before = await tx.prefix_state(scene.session.session_id)
        apply(before, identified(root, part.effects), Origin(scene.floor.floor_id, source=MODEL))
    except UnknownMemory:
        raise ToolFault(
            "There is no such remembered item where the draft was made: see get_state for the ids."
        ) from None
    return part


def _of_project(effects: Effects) -> bool:
    return (
        not effects.memory and not effects.slots and all(v.scope is Scope.PROJECT for v in effects.variables)
    )


def _effects(arguments: str) -> effects_pb2.Effects:
    """Of arguments that fit the tool's schema."""
    given: Any = loads(arguments)
    found = effects_pb2.Effects()
    for write in given.get("variables", ()):
        scope = f"SCOPE_{write.get('scope', 'path').upper()}"
        found.variables.add(key=write["key"], scope=scope, **_value(write))
    for write in given.get("memory", ()):
        op, kind = f"MEMORY_OP_{write['op'].upper()}", write.get("kind", "fact").upper()
        said = {
            name: write[name] for name in ("memory_id", "text", "fact_key", "importance") if name in write
        }
        if write["op"] == "add":
            said["kind"] = f"MEMORY_KIND_{kind}"
        found.memory.add(op=op, **said)
    for write in given.get("slots", ()):
        found.slots.add(namespace=write["namespace"], slot=write["slot"], **_value(write))
    return found


def _value(write: dict[str, Any]) -> dict[str, Any]:
    found = {"value_json": dumps(write["value"])} if "value" in write else {}
    return found | ({"delete": True} if write.get("delete") else {})


async def _kept(
    tx: WriteTx, draft: Draft, scene: Scene, call: RecordedCall, part: StagedConfig | StagedEffects
) -> str:
    # By the call: asked again for one whose outcome was not known, there is no second proposal.
    proposal_id = str(uuid5(UUID(call.run_id), call.call_id))
    if await tx.proposal(draft.draft_id, proposal_id) is None:
        number = 1 + await tx.last_proposal(draft.draft_id)
        if number > MAX_PROPOSALS:
            raise ToolFault(f"A draft keeps at most {MAX_PROPOSALS} proposals.")
        now = await tx.now()
        await tx.insert_proposal(
            Proposal(draft.draft_id, proposal_id, number, scene.floor.floor_id, call.run_id, part, now)
        )
    return dumps({"proposal_id": proposal_id, "note": "Kept. Nothing changes until somebody accepts it."})
