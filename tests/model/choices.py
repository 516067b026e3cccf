"""What a step names, chosen from the tree as it is: branches, floors, pages, heads and texts."""

from typing import Any

from tests.model.digests import proto
from tests.model.rules import Messages
from tests.model.steps import Step
from tests.model.tree_model import TreeModel
from tests.model.values import OUTPUT, ROOT, UNKNOWN, Aim, Msg, State
from tests.model.wire import Comparison

ASSISTANT, USER = 3, 2
MALFORMED = "../floors"


class Choices:
    """`_number` makes every text and name new."""

    def __init__(self, comparison: Comparison) -> None:
        self._model: TreeModel = comparison.model
        self._same = comparison
        self._number = 0

    def branch(self, step: Step) -> str:
        """`main` about half of the time."""
        names = list(self._model.branches)
        return "main" if step.branch < 4 else names[step.branch % len(names)]

    def _aim(self, step: Step, *, may_omit_session: bool = False) -> tuple[Aim, dict[str, Any]]:
        name = "gone" if step.fault == "no_branch" else self.branch(step)
        expected, head = self._head(step, name)
        session = "" if may_omit_session and step.form % 2 else self._same.session_id
        fields = {
            "session_id": session,
            "branch": "" if name == "main" and step.form % 2 else name,
            "expected_head": head,
            "on_pending": 2 if step.abandon else step.form % 2,
        }
        return Aim(name, expected, step.abandon), fields

    def _head(self, step: Step, branch: str) -> tuple[int | None, str]:
        if step.head == "any" or branch not in self._model.branches:
            return None, ""
        head = self._model.branches[branch].head
        if step.head == "right":
            return head, self._same.floors.of(head)
        others = [key for key in self._model.floors if key != head]
        wrong = others[step.pick % len(others)] if others and step.form % 3 else UNKNOWN
        return wrong, self._same.floors.of(wrong)

    def _named(self, step: Step, floor: int) -> dict[str, str]:
        return {"floor_id": MALFORMED if step.fault == "malformed" else self._same.floors.of(floor)}

    def _any(self, step: Step) -> int:
        keys = list(self._model.floors)
        return UNKNOWN if step.fault == "unknown" else keys[step.pick % len(keys)]

    def _turn(self, step: Step) -> int:
        """Mostly a floor that is over: what can be edited."""
        over = [f.key for f in self._model.floors.values() if not f.state.pending and f.key != ROOT]
        if not over or step.form == 15 or step.fault == "unknown":
            return self._any(step)
        return over[step.pick % len(over)]

    def _elsewhere(self, step: Step) -> int:
        """A committed floor off the branch's path, mostly where the path forks; now and then any floor."""
        path = self._model.path(self._model.branches[self.branch(step)].head)
        off = [f for f in self._model.floors.values() if f.state is State.COMMITTED and f.key not in path]
        forks = [floor for floor in off if floor.parent in path]
        if not off or step.form % 6 == 5 or step.fault == "unknown":
            return self._turn(step)
        chosen = forks if forks and step.form % 3 else off
        return chosen[step.pick % len(chosen)].key

    def _owned(self, step: Step) -> int:
        """A pending floor, when there is one; now and then any floor."""
        pending = self._pending(step)
        if pending is None or step.fault == "unknown" or step.form % 6 == 5:
            return self._any(step)
        return pending

    def _pending(self, step: Step) -> int | None:
        """The branch's pending floor, or else one of another branch."""
        found = [branch.pending for branch in self._model.branches.values() if branch.pending is not None]
        own = self._model.branches[self.branch(step)].pending
        return own if own is not None or not found else found[step.pick % len(found)]

    def _version(self, step: Step) -> int:
        """Of a pending floor, when there is one; now and then of any. UNKNOWN where there is none.

        Of a page that only ended floors share, nobody can say which of them is meant.
        """
        own = self._model.floors.get(self._owned(step))
        clear = [page for page in self._model.pages if self._is_clear(page)]
        mine = [page for page in own.versions if page in clear] if own else []
        pages = mine if mine and step.form else clear
        return pages[step.pick % len(pages)] if pages else UNKNOWN

    def _is_clear(self, page: int) -> bool:
        holders = self._model.holders(page)
        return len(holders) == 1 or any(floor.state.pending for floor in holders)

    def _candidate(self, step: Step, floor: int) -> int | None:
        """A version of the floor's output that it did not commit, if it has one."""
        own = self._model.floors.get(floor)
        if step.form == 12:
            return UNKNOWN
        pages = [p for p in own.pages if self._model.pages[p].slot == OUTPUT] if own else []
        if own and own.state is State.COMMITTED:
            pages = [page for page in pages if page != own.output]
        return pages[step.pick % len(pages)] if pages else None

    # --- texts ---------------------------------------------------------------------------------

    def _sides(self, step: Step) -> tuple[Messages, Messages]:
        if step.fault == "empty":
            return (), ()
        sides = self._input(step), self._messages(step, ASSISTANT)
        return (((), sides[1]), (sides[0], ()))[step.form % 2] if step.form > 11 else sides

    def _input(self, step: Step) -> Messages:
        return self._messages(step, USER)

    def _messages(self, step: Step, role: int) -> Messages:
        """One to three; some hidden, named, with metadata, or of a system's voice."""
        text = f"{'qa'[role == ASSISTANT]}{self._number} \u00e9\u4f60"
        first = Msg(role, text, hidden=step.pick % 11 == 10, name="Ann" if step.form % 4 == 3 else "")
        more = Msg(role, text * 30, metadata=(("b", "2"), ("a", text), ("c", "")))
        aside = Msg(1, f"aside {self._number}")
        return (first, more, aside)[: 1 + max(0, step.form - 9) // 3]


def protos(messages: Messages) -> list[Any]:
    return [proto(message) for message in messages]
