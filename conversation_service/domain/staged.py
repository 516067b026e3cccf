"""What an entry of the ledger asks of its target. Pure."""

from dataclasses import replace

from kernel.state.model import Effects, Scope
from kernel.verbs.staged_store import (
    Placement,
    StagedConfig,
    StagedEffects,
    StagedPage,
    StagedPart,
    StagedTarget,
)


def path_effects(part: StagedEffects) -> StagedEffects | None:
    """What belongs to the path, and so to a floor; None for nothing."""
    variables = tuple(write for write in part.effects.variables if write.scope is Scope.PATH)
    kept = replace(part.effects, variables=variables)
    return StagedEffects(kept, part.covers) if kept else None


def live_values(effects: Effects, scope: Scope) -> dict[str, str | None]:
    """Values of one layer by key, None for a deletion; the last write of a key wins."""
    return {write.key: write.value_json for write in effects.variables if write.scope is scope}


def live_scopes(parts: tuple[StagedPart, ...]) -> list[Scope]:
    """The layers of live values that are written, in the order in which they are locked."""
    found = [part.effects for part in parts if isinstance(part, StagedEffects)]
    return [s for s in (Scope.SESSION, Scope.PROJECT) if any(live_values(effects, s) for effects in found)]


def versioned_scope(parts: tuple[StagedPart, ...]) -> Scope | None:
    """The one layer of live values that versions speak of; None when a configuration is what they are
    of, or there are two such layers, or none."""
    scopes = live_scopes(parts)
    has_config = any(isinstance(part, StagedConfig) for part in parts)
    return scopes[0] if len(scopes) == 1 and not has_config else None


def is_next_floor(target: StagedTarget, part: StagedPart) -> bool:
    return isinstance(part, StagedPage) and target.placement is Placement.NEXT_FLOOR


def is_on_head(target: StagedTarget, part: StagedPart) -> bool:
    """Whether the part becomes a floor below the branch's head."""
    if isinstance(part, StagedEffects):
        return path_effects(part) is not None
    return is_next_floor(target, part)
