"""What a session's tree is, without ids and times: equal for two sessions that are the same."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.support.client import Client

# Where a floor is: the ordinals from the root down.
Place = tuple[int, ...]


class Tree:
    """A session's floors by id and by place, and its leaves in the order of their places."""

    def __init__(self, floors: Iterable[floor_pb2.Floor]) -> None:
        self.floors = {floor.floor_id: floor for floor in floors}
        self._below: dict[str, list[floor_pb2.Floor]] = defaultdict(list)
        for floor in self.floors.values():
            self._below[floor.parent_floor_id].append(floor)
        [self.root] = self._below[""]
        self.places: dict[str, Place] = dict(self._walk())
        assert len(self.places) == len(self.floors)

    def _walk(self) -> Iterator[tuple[str, Place]]:
        waiting: list[tuple[floor_pb2.Floor, Place]] = [(self.root, ())]
        while waiting:
            floor, place = waiting.pop()
            yield floor.floor_id, place
            below = sorted(self._below[floor.floor_id], key=lambda one: one.ordinal, reverse=True)
            assert len({one.ordinal for one in below}) == len(below)
            waiting += [(one, (*place, one.ordinal)) for one in below]

    def leaves(self) -> list[str]:
        """Committed floors without a committed child, in order."""
        committed = floor_pb2.FLOOR_STATE_COMMITTED
        inner = {one.parent_floor_id for one in self.floors.values() if one.state == committed}
        return [
            floor_id
            for floor_id in self.places
            if floor_id not in inner and self.floors[floor_id].state == committed and self.places[floor_id]
        ]

    def forks(self) -> int:
        return sum(len(below) > 1 for below in self._below.values())


async def tree_of(client: Client, session_id: str) -> Tree:
    return Tree(await client.everything("GetTree", "floors", session_id=session_id, page_size=1000))


async def shape(client: Client, session_id: str) -> dict[str, Any]:
    """Floors with their digests, states and pages (those with candidates with every version), branches,
    title and configuration."""
    tree = await tree_of(client, session_id)
    pages: dict[str, int] = {}
    branches = (await client.call("ListBranches", session_id=session_id)).branches
    session = (await client.call("GetSession", session_id=session_id)).session
    floors = {}
    for floor_id, place in tree.places.items():
        # With bodies.
        floor = (await client.call("GetFloor", floor_id=floor_id)).floor
        versions = await client.everything("ListPages", "pages", floor_id=floor_id)
        floors[place] = (
            floor_pb2.FloorState.Name(floor.state),
            floor.digest,
            floor.path_tokens,
            floor.failure_reason,
            floor.usage.SerializeToString(deterministic=True),
            [_page(page, pages) for page in (floor.input_page, floor.output_page)],
            [_page(page, pages) for page in sorted(versions, key=lambda one: one.digest)],
        )
    return {
        "title": session.title,
        "config": session.config.SerializeToString(deterministic=True),
        "floors": floors,
        "branches": {
            one.name: (
                one.depth,
                *(
                    tree.places.get(floor_id)
                    for floor_id in (one.head_floor_id, one.pending_floor_id, one.failed_floor_id)
                ),
            )
            for one in branches
        },
    }


def _page(page: message_pb2.Page, known: dict[str, int]) -> Any:
    """Which page it is (those of two floors may be one), and what it holds."""
    if not page.page_id:
        return None
    number = known.setdefault(page.page_id, len(known))
    return (
        number,
        page.digest,
        page.slot,
        page.partial,
        page.token_count,
        [_said(one) for one in page.messages],
    )


def _said(message: message_pb2.Message) -> bytes:
    own = message_pb2.Message()
    own.CopyFrom(message)
    own.message_id = own.parent_message_id = ""
    return _bytes(own)


def _bytes(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


async def leaf_paths(client: Client, session_id: str) -> list[tuple[bytes, ...]]:
    """The messages that a model would be sent at each leaf, in order; without provenance, which every
    import sets."""
    tree = await tree_of(client, session_id)
    found = []
    for floor_id in tree.leaves():
        answer = await client.call("AssembleContext", session_id=session_id, floor_id=floor_id)
        for message in answer.messages:
            message.metadata.pop("stemma.provenance", None)
        found.append(tuple(_said(message) for message in answer.messages))
    return found
