"""Re-derives marks and copies of state, parents first."""

from dataclasses import dataclass, field

from kernel.state.fold import UnknownMemory
from kernel.state.limits import COPY_EVERY
from kernel.state.text import state_from
from kernel.tree.digest import effects_hold
from kernel.tree.model import NO_STATE, Floor
from kernel.verbs.folding import Folded, slim

# (kind, text) of what disagrees.
Fault = tuple[str, str]
_MARK = ("state_mark", "The floor's mark of where its state is found is not its path's.")
_COPY = ("state_copy", "The floor's copy of the state is not what its path folds to.")
_DIGEST = ("effects_digest", "The floor's effects fail their digest.")
_UNKNOWN = ("effects", "The floor's effects, or others above it, name an item that is not on their path.")


@dataclass(slots=True)
class StateCheck:
    """`copies` are the stored texts by floor id; what was not met in the end belongs to no floor."""

    copies: dict[str, str]
    # What a repair writes: texts of copies by floor id.
    derived: dict[str, str] = field(default_factory=dict)

    def root(self, floor: Floor) -> tuple[Folded, list[Fault]]:
        return Folded(slim(floor, NO_STATE)), [_MARK] if floor.mark != NO_STATE else []

    def below(self, parent: Folded, floor: Floor) -> tuple[Folded, list[Fault]]:
        """A committed floor as its children need it, with the mark that it must have."""
        if floor.effects is None:
            return _judged(parent.below(floor), floor)
        stored = self.copies.pop(floor.floor_id, None)
        if not effects_hold(floor.effects.blob, floor.effects.digest):
            return self._uncertain(floor, stored), [_DIGEST]
        found = parent.below(floor)
        if stored is None and found.floor.mark.debt < COPY_EVERY:
            return _judged(found, floor)
        if not parent.certain:
            return self._uncertain(floor, stored), []
        try:
            found, text = found.copied()
        except UnknownMemory:
            return self._uncertain(floor, stored), [_UNKNOWN]
        self.derived[floor.floor_id] = text
        found, faults = _judged(found, floor)
        return found, faults + ([_COPY] if stored != text else [])

    def _uncertain(self, floor: Floor, stored: str | None) -> Folded:
        """A floor whose state cannot be derived: what is stored of it stays, and is gone on from."""
        if stored is None:
            return Folded(slim(floor, floor.mark), certain=False)
        self.derived[floor.floor_id] = stored
        return Folded(slim(floor, floor.mark), state_from(stored))


def _judged(found: Folded, floor: Floor) -> tuple[Folded, list[Fault]]:
    return found, [_MARK] if found.floor.mark != floor.mark else []
