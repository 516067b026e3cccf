"""Folding the state of a whole tree, parents first: for copies of paths, imports and verification."""

from dataclasses import dataclass, replace

from kernel.errors import Exhausted
from kernel.state.fold import apply
from kernel.state.limits import MAX_STATE
from kernel.state.model import EMPTY, Effects, Origin, State
from kernel.state.text import effects_from, state_text
from kernel.tree.model import Floor, StateMark
from kernel.verbs.effects import due, last_said
from kernel.verbs.pages import mark_below
from kernel.verbs.state import origin_of


@dataclass(frozen=True, slots=True)
class Folded:
    """A committed floor as its children need it: its mark, the state at the last copy, and what was
    written since.

    Not `certain`: something in that fails, and nothing may be derived from it.
    """

    floor: Floor
    base: State = EMPTY
    since: tuple[tuple[Effects, Origin], ...] = ()
    certain: bool = True

    def state(self) -> State:
        """Raises UnknownMemory."""
        state = self.base
        for effects, origin in self.since:
            state = apply(state, effects, origin)
        return state

    def below(self, floor: Floor) -> "Folded":
        """A child, with no copy."""
        child = replace(self, floor=slim(floor, mark_below(self.floor, floor.effects)))
        if floor.effects is None:
            return child
        origin = origin_of(floor.floor_id, last_said(floor), floor.effects)
        return replace(child, since=(*self.since, (effects_from(floor.effects.blob), origin)))

    def copied(self) -> tuple["Folded", str]:
        """The same floor with a copy, and the copy's text. Raises UnknownMemory."""
        state = self.state()
        text = state_text(state)
        mark = replace(self.floor.mark, debt=0, size=len(text))
        return Folded(replace(self.floor, mark=mark), state), text

    def settled(self, copies: dict[str, str]) -> "Folded":
        """With a copy where one is due, whose text goes to `copies`. Raises UnknownMemory, LIMIT."""
        if not due(self.floor):
            return self
        folded, text = self.copied()
        if len(text) > MAX_STATE:
            raise Exhausted("LIMIT", "The state of a path takes at most 1 MiB.")
        copies[self.floor.floor_id] = text
        return folded


def slim(floor: Floor, mark: StateMark) -> Floor:
    """Without its bodies."""
    effects = replace(floor.effects, blob=b"") if floor.effects else None
    return replace(floor, input=None, output=None, effects=effects, mark=mark)
