"""What every verb of the model checks first, and the few ways in which the tree changes."""

from tests.model.queries import Queries
from tests.model.values import INPUT, OUTPUT, ROOT, Aim, Branch, Floor, Move, Msg, Page, Refused, State

Messages = tuple[Msg, ...]
NAMED = {State.OPEN: "FLOOR_PENDING", State.GENERATING: "RUN_ACTIVE", State.FAILED: "FLOOR_FAILED"}
OWNED = {State.GENERATING: "RUN_ACTIVE", State.COMMITTED: "FLOOR_SEALED", State.FAILED: "FLOOR_FAILED"}


class Rules(Queries):
    """A session's rows. Checks raise Refused; changes are made only after all checks."""

    def __init__(self) -> None:
        self.floors: dict[int, Floor] = {ROOT: Floor(ROOT, None, 0, 0, State.COMMITTED, "main")}
        self.pages: dict[int, Page] = {}
        self.branches: dict[str, Branch] = {"main": Branch("main", ROOT)}
        self.moves: list[Move] = []
        self.requests: dict[tuple[str, str], object] = {}
        # What the run of a GENERATING floor has written so far.
        self.received: dict[int, Messages] = {}

    # --- checks --------------------------------------------------------------------------------

    def _some(self, *sides: Messages) -> None:
        if not any(sides):
            raise Refused("INVALID")

    def _floor(self, key: int) -> Floor:
        if key not in self.floors:
            raise Refused("NOT_FOUND")
        return self.floors[key]

    def _branch(self, name: str) -> Branch:
        if name not in self.branches:
            raise Refused("NOT_FOUND")
        return self.branches[name]

    def _past(self, key: int, aim: Aim) -> Floor:
        """A turn that is over, or that the call itself abandons: what edit and regenerate name."""
        floor = self._floor(key)
        if key == ROOT:
            raise Refused("INVALID")
        if aim.branch in self.branches and self.branches[aim.branch].pending == key:
            if aim.abandon:
                return floor
            raise Refused("FLOOR_PENDING", key)
        if floor.state.pending:
            raise Refused(NAMED[floor.state], key)
        return floor

    def _settled(self, key: int) -> None:
        """A place where a head can stand."""
        floor = self._floor(key)
        if floor.state is not State.COMMITTED:
            raise Refused(NAMED[floor.state], key)

    def _open(self, key: int) -> Floor:
        floor = self._floor(key)
        if floor.state is not State.OPEN:
            raise Refused(OWNED[floor.state])
        return floor

    def _is_version(self, floor: Floor, page: int, slot: int) -> bool:
        return page in floor.pages and self.pages[page].slot == slot

    def _expect(self, branch: Branch, expected: int | None) -> None:
        if expected is not None and expected != branch.head:
            raise Refused("HEAD_MOVED", branch.head)

    def _ready(self, aim: Aim) -> Branch:
        """The branch, free of a pending floor and at the expected head."""
        branch = self._branch(aim.branch)
        if branch.pending is not None and not aim.abandon:
            raise Refused("FLOOR_PENDING", branch.pending)
        self._expect(branch, aim.expected)
        if branch.pending is not None:
            self._fail(branch, None)
        return branch

    # --- changes -------------------------------------------------------------------------------

    def _write(
        self, slot: int, messages: Messages, floor: int | None = None, partial: bool = False
    ) -> int | None:
        """A new page, on the floor that comes next unless one is named; None for no messages."""
        if not messages:
            return None
        key = len(self.pages) + 1
        owner = len(self.floors) if floor is None else floor
        self.pages[key] = Page(key, owner, slot, messages, partial)
        return key

    def _side(self, floor: Floor, slot: int) -> int | None:
        return floor.input if slot == INPUT else floor.output

    def _choose(self, floor: Floor, page: int) -> None:
        if self.pages[page].slot == INPUT:
            floor.input = page
        else:
            floor.output = page

    def _child(
        self, branch: Branch, parent: int, input: int | None, output: int | None, state: State
    ) -> Floor:
        key = len(self.floors)
        ordinal = sum(floor.parent == parent for floor in self.floors.values())
        floor = Floor(key, parent, self.floors[parent].depth + 1, ordinal, state, branch.name, input, output)
        floor.pages = [page for page in (input, output) if page is not None]
        self.floors[key] = floor
        return floor

    def _committed(self, branch: Branch, parent: int, input: int | None, output: int | None) -> Floor:
        floor = self._child(branch, parent, input, output, State.COMMITTED)
        self._go(branch, floor.key, "commit")
        return floor

    def _pending(self, branch: Branch, parent: int, input: int | None, state: State) -> Floor:
        floor = self._child(branch, parent, input, None, state)
        if state is State.OPEN:
            floor.versions = list(floor.pages)
        branch.pending, branch.failed = floor.key, None
        branch.version += 1
        return floor

    def _seal(self, branch: Branch, floor: Floor) -> Floor:
        floor.state = State.COMMITTED
        branch.pending = None
        self._go(branch, floor.key, "commit")
        return floor

    def _keep(self, floor: Floor, output: Messages, partial: bool) -> None:
        key = self._write(OUTPUT, output, floor.key, partial)
        floor.pages.append(key)
        floor.output = key

    def _fail(self, branch: Branch, reason: str | None) -> None:
        """A cut run's floor keeps its partial page."""
        floor = self.floors[branch.pending]
        if received := self.received.get(floor.key):
            self._keep(floor, received, partial=True)
        floor.state, floor.failure_reason = State.FAILED, reason
        branch.failed, branch.pending = floor.key, None
        branch.version += 1

    def _go(self, branch: Branch, target: int, kind: str) -> Branch:
        """Moves a head; staying is no move, and neither recorded nor counted."""
        if branch.head != target:
            self.moves.append(Move(branch.name, branch.head, target, kind))
            branch.head, branch.failed = target, None
            branch.version += 1
        return branch
