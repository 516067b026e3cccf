"""Compares what the service shows with the model, and keeps the ids that model keys stand for."""

import uuid

from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.model.digests import floor_digest, page_digest, proto
from tests.model.tree_model import TreeModel
from tests.model.values import UNKNOWN, Branch, Floor, Page, Position, State


class Names:
    """Key to id, one to one: two keys never share an id, and a key's id never changes."""

    def __init__(self) -> None:
        self.ids: dict[int, str] = {}
        self._keys: dict[str, int] = {}

    def of(self, key: int | None) -> str:
        """Empty for None; an id that exists nowhere for UNKNOWN."""
        if key is None:
            return ""
        return str(uuid.uuid4()) if key == UNKNOWN else self.ids[key]

    def bind(self, key: int, found: str) -> None:
        assert found, f"{key} has no id"
        assert self.ids.setdefault(key, found) == found, f"{key} was {self.ids[key]} and is now {found}"
        assert self._keys.setdefault(found, key) == key, f"{found} is both {self._keys[found]} and {key}"


class Comparison:
    """`same_*` fail where an answer disagrees with the model, and learn the ids of what is new."""

    def __init__(self, model: TreeModel, session_id: str, root_floor_id: str) -> None:
        self.model = model
        self.session_id = session_id
        self.floors = Names()
        self.pages = Names()
        self._tokens: dict[int, int] = {}
        self.floors.bind(0, root_floor_id)

    def same_floor(self, expected: Floor, found: floor_pb2.Floor, *, bodies: bool = True) -> None:
        self.floors.bind(expected.key, found.floor_id)
        assert found.session_id == self.session_id
        assert found.parent_floor_id == self.floors.of(expected.parent)
        assert (found.depth, found.ordinal) == (expected.depth, expected.ordinal)
        assert found.state == floor_pb2.FloorState.Value(f"FLOOR_STATE_{expected.state.value}")
        assert found.principal == "local"
        self._same_side(expected.input, found.HasField("input_page"), found.input_page, bodies)
        self._same_side(expected.output, found.HasField("output_page"), found.output_page, bodies)
        if expected.failure_reason is not None:
            assert found.failure_reason == expected.failure_reason
        assert found.HasField("commit_time") == (expected.state is State.COMMITTED)
        if expected.state is State.COMMITTED:
            assert found.digest == floor_digest(self.model, expected.key).hex()
            assert found.path_tokens == sum(self._turn_tokens(key) for key in self.model.path(expected.key))
        else:
            assert found.digest == ""

    def _turn_tokens(self, key: int) -> int:
        floor = self.model.floors[key]
        return sum(self._tokens[page] for page in (floor.input, floor.output) if page is not None)

    def _same_side(self, key: int | None, there: bool, found: message_pb2.Page, bodies: bool) -> None:
        assert there == (key is not None)
        if key is not None:
            self.same_page(self.model.pages[key], found, bodies=bodies)

    def same_page(self, expected: Page, found: message_pb2.Page, *, bodies: bool = True) -> None:
        self.pages.bind(expected.key, found.page_id)
        assert found.floor_id == self.floors.of(expected.floor)
        assert found.slot == expected.slot
        assert found.partial == expected.partial
        assert found.digest == page_digest(expected).hex()
        assert self._tokens.setdefault(expected.key, found.token_count) == found.token_count
        if not bodies:
            assert not found.messages
            return
        assert sum(message.token_count for message in found.messages) == found.token_count
        for index, (message, shown) in enumerate(zip(expected.messages, found.messages, strict=True)):
            assert shown.message_id == f"{found.page_id}.{index}"
            assert bare(shown) == proto(message)

    def same_branch(self, expected: Branch, found: floor_pb2.Branch) -> None:
        assert found.name == expected.name
        assert found.head_floor_id == self.floors.of(expected.head)
        assert found.pending_floor_id == self.floors.of(expected.pending)
        assert found.failed_floor_id == self.floors.of(expected.failed)
        assert found.depth == self.model.floors[expected.head].depth
        assert found.version == expected.version

    def same_position(self, key: int, found: floor_pb2.Position) -> None:
        shown = Position(found.input_index, found.input_count, found.output_index, found.output_count)
        assert found.floor_id == self.floors.of(key)
        assert shown == self.model.position(key)


def bare(message: message_pb2.Message) -> message_pb2.Message:
    """Without ids and counts."""
    copy = message_pb2.Message()
    copy.CopyFrom(message)
    for name in ("message_id", "parent_message_id", "token_count"):
        copy.ClearField(name)
    return copy
