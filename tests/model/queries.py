"""What can be asked of the model's tree, each from its definition."""

from tests.model.values import ROOT, Branch, Floor, Move, Msg, Page, Position, State


class Queries:
    floors: dict[int, Floor]
    pages: dict[int, Page]
    branches: dict[str, Branch]
    moves: list[Move]

    def path(self, floor: int) -> list[int]:
        """From the root, which is included, to the floor."""
        found = [floor]
        while (parent := self.floors[found[-1]].parent) is not None:
            found.append(parent)
        return found[::-1]

    def children(self, floor: int) -> list[Floor]:
        """Committed ones, by ordinal."""
        found = [f for f in self.floors.values() if f.parent == floor and f.state is State.COMMITTED]
        return sorted(found, key=lambda f: f.ordinal)

    def siblings(self, floor: int) -> list[int]:
        """The committed children of the floor's parent, by ordinal; itself too if committed."""
        return [f.key for f in self.children(self.floors[floor].parent)]

    def position(self, floor: int) -> Position:
        own = self.floors[floor]
        if own.parent is None or own.state is not State.COMMITTED:
            return Position()
        siblings = self.children(own.parent)
        inputs = list(dict.fromkeys(f.input for f in siblings))
        replies = [f.key for f in siblings if f.input == own.input]
        input_side = (inputs.index(own.input) + 1, len(inputs)) if own.input is not None else (0, 0)
        output_side = (replies.index(floor) + 1, len(replies)) if own.output is not None else (0, 0)
        return Position(*input_side, *output_side)

    def holders(self, page: int) -> list[Floor]:
        """The floors that have this page among the versions to choose from; siblings share inputs."""
        return [floor for floor in self.floors.values() if page in floor.versions]

    def last_left(self, branch: str, floor: int) -> int | None:
        """The leaf last left below the floor on this branch, from the whole history (T6)."""
        for move in reversed(self.moves):
            below = floor in self.path(move.source)
            if move.branch == branch and below and floor not in self.path(move.target):
                return move.source
        return None

    def leaf_for(self, branch: Branch, floor: int) -> int:
        """Where selecting this sibling takes the branch (T6)."""
        if floor in self.path(branch.head):
            return branch.head
        left = self.last_left(branch.name, floor)
        if left is not None:
            return left
        while children := self.children(floor):
            floor = children[-1].key
        return floor

    def head_moves(self, branch: str) -> list[Move]:
        """Newest first."""
        return [move for move in reversed(self.moves) if move.branch == branch]

    def messages(self, floor: int) -> list[tuple[int, int, Msg]]:
        """(page, index in it, message), input before output."""
        own = self.floors[floor]
        sides = [self.pages[page] for page in (own.input, own.output) if page is not None]
        return [(page.key, index, message) for page in sides for index, message in enumerate(page.messages)]

    def context(self, branch: str) -> list[Msg]:
        """The head's path; with a pending floor its parent's path, and then its input."""
        pending = self.branches[branch].pending
        if pending is None:
            return self.context_at(self.branches[branch].head)
        return self.sent(pending)

    def sent(self, floor: int) -> list[Msg]:
        """What a model that writes the floor is sent: the path above it, and its input."""
        own = self.floors[floor]
        before = self.context_at(own.parent)
        page = () if own.input is None else self.pages[own.input].messages
        return before + [message for message in page if not message.hidden]

    def context_at(self, floor: int) -> list[Msg]:
        turns = [self.messages(key) for key in self.path(floor) if key != ROOT]
        return [message for turn in turns for _, _, message in turn if not message.hidden]
