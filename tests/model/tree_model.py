"""The tree of one session as plainly as it can be said. Slow, and obviously right.

Every verb checks first and changes afterwards, so a refused call leaves no trace. The order of the
checks: validity, existence, state of the named floor, pending floor, head.
"""

from tests.model.rules import OWNED, Messages, Rules
from tests.model.values import INPUT, OUTPUT, ROOT, Aim, Branch, Floor, Page, Refused, State


class TreeModel(Rules):
    """Each verb returns the floor or branch that the service's answer shows."""

    # --- whole turns, and pending floors -------------------------------------------------------

    def append(self, aim: Aim, input: Messages, output: Messages) -> Floor:
        self._some(input, output)
        branch = self._ready(aim)
        return self._committed(branch, branch.head, self._write(INPUT, input), self._write(OUTPUT, output))

    def open(self, aim: Aim, input: Messages, state: State = State.OPEN) -> Floor:
        branch = self._ready(aim)
        return self._pending(branch, branch.head, self._write(INPUT, input), state)

    def edit(
        self, aim: Aim, floor: int, input: Messages, output: Messages, state: State = State.OPEN
    ) -> Floor:
        self._some(input)
        named = self._past(floor, aim)
        branch = self._ready(aim)
        if output:
            return self._committed(
                branch, named.parent, self._write(INPUT, input), self._write(OUTPUT, output)
            )
        return self._pending(branch, named.parent, self._write(INPUT, input), state)

    def regenerate(
        self,
        aim: Aim,
        floor: int,
        output: Messages = (),
        from_page: int | None = None,
        state: State = State.OPEN,
    ) -> Floor:
        if output and from_page is not None:
            raise Refused("INVALID")
        named = self._past(floor, aim)
        if from_page is not None and not self._is_version(named, from_page, OUTPUT):
            raise Refused("NOT_FOUND")
        branch = self._ready(aim)
        chosen = from_page if from_page is not None else self._write(OUTPUT, output)
        if chosen is None:
            return self._pending(branch, named.parent, named.input, state)
        return self._committed(branch, named.parent, named.input, chosen)

    def add_page(self, floor: int, slot: int, messages: Messages, activate: bool) -> Page:
        self._some(messages)
        owner = self._open(floor)
        key = self._write(slot, messages, floor)
        owner.pages.append(key)
        owner.versions.append(key)
        if activate or self._side(owner, slot) is None:
            self._choose(owner, key)
        return self.pages[key]

    def activate(self, page: int) -> Floor:
        holders = self.holders(page)
        if not holders:
            raise Refused("NOT_FOUND")
        pending = [floor for floor in holders if floor.state.pending]
        if len(pending) > 1:
            raise Refused("INVALID", code="FAILED_PRECONDITION")
        owner = self._open((pending or holders)[0].key)
        self._choose(owner, page)
        return owner

    def commit(self, floor: int, page: int | None = None, expected: int | None = None) -> Floor:
        owner = self._open(floor)
        if page is not None and not self._is_version(owner, page, OUTPUT):
            raise Refused("NOT_FOUND")
        branch = self.branches[owner.branch]
        self._expect(branch, expected)
        if page is None and owner.input is None and owner.output is None:
            raise Refused("INVALID")
        if page is not None:
            self._choose(owner, page)
        return self._seal(branch, owner)

    def abandon(self, floor: int, reason: str = "") -> Floor:
        owner = self._floor(floor)
        if not owner.state.pending:
            raise Refused(OWNED[owner.state])
        self._fail(self.branches[owner.branch], reason or None)
        return owner

    # --- runs ----------------------------------------------------------------------------------

    def resume(self, aim: Aim, floor: int) -> Floor:
        owner = self._open(floor)
        self._expect(self._branch(aim.branch), aim.expected)
        owner.state = State.GENERATING
        return owner

    def finish(self, floor: int, output: Messages) -> Floor:
        """The end of a run: its output is chosen and the floor committed."""
        owner = self.floors[floor]
        self._keep(owner, output, partial=False)
        return self._seal(self.branches[owner.branch], owner)

    def cancel(self, floor: int, keep: bool) -> Floor:
        """With `keep` what was received is committed, marked partial; nothing received fails."""
        owner = self.floors[floor]
        branch = self.branches[owner.branch]
        received = self.received.get(floor, ())
        if keep and received:
            self._keep(owner, received, partial=True)
            return self._seal(branch, owner)
        self._fail(branch, None)
        return owner

    # --- heads and branches --------------------------------------------------------------------

    def move_head(self, aim: Aim, floor: int) -> Branch:
        self._settled(floor)
        branch = self._ready(aim)
        kind = "rollback" if floor in self.path(branch.head) else "checkout"
        return self._go(branch, floor, kind)

    def select_sibling(self, aim: Aim, floor: int) -> Branch:
        self._settled(floor)
        if floor == ROOT:
            raise Refused("INVALID")
        branch = self._ready(aim)
        return self._go(branch, self.leaf_for(branch, floor), "sibling")

    def create_branch(self, name: str, floor: int) -> Branch:
        self._settled(floor)
        if name in self.branches:
            raise Refused("INVALID", code="ALREADY_EXISTS")
        self.branches[name] = Branch(name, floor)
        return self.branches[name]

    def delete_branch(self, name: str) -> Branch:
        if name == "main":
            raise Refused("INVALID")
        branch = self._branch(name)
        if branch.pending is not None:
            raise Refused("FLOOR_PENDING", branch.pending)
        return self.branches.pop(name)

    # --- requests ------------------------------------------------------------------------------

    def seen(self, method: str, request_id: str, content: object) -> bool:
        """Whether this very call was answered before (R1)."""
        known = self.requests.get((method, request_id))
        if known is not None and known != content:
            raise Refused("REQUEST_ID_REUSED")
        return known is not None

    def answered(self, method: str, request_id: str, content: object) -> None:
        """Only answers are kept: a failure may be tried again under its id."""
        self.requests[method, request_id] = content
