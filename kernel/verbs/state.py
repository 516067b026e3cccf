"""What is visible at a floor: the path's state, and the live values beside it."""

from collections.abc import Mapping
from types import MappingProxyType

from kernel.errors import DataLoss
from kernel.prompt.config import Config
from kernel.prompt.merge_patch import members
from kernel.state.fold import UnknownMemory, apply
from kernel.state.model import EMPTY, LiveValue, Origin, Scope, State, VisibleState
from kernel.state.text import effects_from, state_from
from kernel.tree.model import Floor, StoredEffects
from kernel.verbs import configs
from kernel.verbs.env import ReadTx
from kernel.verbs.path_store import ContextReads
from kernel.verbs.records import Project, Session
from kernel.verbs.state_store import LiveLayer

_NO_VALUES: Mapping[str, str] = MappingProxyType({})


async def visible_state(
    tx: ContextReads, session: Session, floor: Floor, config: Config | None = None
) -> VisibleState:
    """At a committed floor, or the root, of the session. Costs the distance to the last copy of the
    state, at most 16 floors, whatever the depth. `config`: the effective one, where it is known."""
    state = await path_state(tx, floor)
    layers = await tx.live_layers(session.session_id, session.project_id)
    own, shared = layers[session.session_id], layers[session.project_id]
    config = config or (await configs.of_session(tx, session)).config
    return VisibleState(
        state,
        _live(Scope.SESSION, own) + _live(Scope.PROJECT, shared),
        _initial(config),
        session.root_floor_id,
        own.version,
        shared.version,
    )


async def project_state(tx: ReadTx, project: Project) -> VisibleState:
    """The project's live values, and what its configuration gives; no path and no session."""
    layer = (await tx.live_layers(project.project_id))[project.project_id]
    initial = _initial(configs.of_project(project).config)
    return VisibleState(EMPTY, _live(Scope.PROJECT, layer), initial, "", 0, layer.version)


def _initial(config: Config) -> Mapping[str, str]:
    return members(config.variables_json) if config.variables_json else _NO_VALUES


def _live(scope: Scope, layer: LiveLayer) -> tuple[LiveValue, ...]:
    return tuple(LiveValue(scope, row.key, row.value_json, row.version) for row in layer.values)


async def path_state(tx: ContextReads, floor: Floor) -> State:
    """The path-scope state at a committed floor. DATA_LOSS when what is stored of it does not fit."""
    text, written = await tx.since_copy(floor)
    state = state_from(text) if text else await tx.prefix_state(floor.session_id)
    for one in written:
        origin = origin_of(one.floor_id, one.message_id, one.effects)
        try:
            state = apply(state, effects_from(one.effects.blob), origin)
        except UnknownMemory:
            raise DataLoss(
                "DIGEST_MISMATCH", "Stored effects name an item that is not there: run `stemma verify`."
            ) from None
    return state


def origin_of(floor_id: str, message_id: str, effects: StoredEffects) -> Origin:
    return Origin(floor_id, message_id, effects.source, effects.covers)
