"""T9: order comes from parents, ordinals and sequence numbers, never from clocks or ids.

The service runs with a clock that goes backwards and with random ids.
"""

import itertools
import uuid
from datetime import UTC, datetime, timedelta

from tests.support.client import assistant, connect, texts, user
from tests.support.service import running_service

_START = datetime(2030, 1, 1, tzinfo=UTC)


async def test_order_without_clocks_and_ids(migrated_url: str) -> None:
    ticks = itertools.count()
    async with (
        running_service(
            migrated_url,
            clock=lambda: _START - timedelta(seconds=next(ticks)),
            new_id=lambda: str(uuid.uuid4()),
        ) as service,
        connect(service.address) as client,
    ):
        session_id = (await client.call("CreateSession")).session.session_id
        turns = [
            (await client.call("AppendFloor", session_id=session_id, input=[user(f"turn {n}")])).floor
            for n in range(6)
        ]
        path = await client.call("ListPath", session_id=session_id)
        assert [texts(floor.input_page) for floor in path.floors] == [[f"turn {n}"] for n in range(6)]
        context = await client.call("AssembleContext", session_id=session_id)
        assert [m.parts[0].text.text for m in context.messages] == [f"turn {n}" for n in range(6)]

        replies = [
            (
                await client.call(
                    "RegenerateFloor", floor_id=turns[2].floor_id, output=[assistant(f"reply {n}")]
                )
            ).floor
            for n in range(8)
        ]
        found = await client.call("ListSiblings", floor_id=turns[2].floor_id)
        assert [f.floor_id for f in found.floors] == [turns[2].floor_id, *(r.floor_id for r in replies)]
        assert [p.output_index for p in found.positions] == [0, *range(2, 10)]

        await client.call("MoveHead", session_id=session_id, floor_id=turns[0].floor_id)
        moves = (await client.call("ListHeadMoves", session_id=session_id)).head_moves
        assert moves[0].kind == "rollback"
        assert moves[0].from_floor_id == replies[-1].floor_id
        # Nothing was left below turn 1 but through the last reply's leaf.
        selected = await client.call("SelectSibling", session_id=session_id, floor_id=turns[1].floor_id)
        assert selected.branch.head_floor_id == replies[-1].floor_id
        # Another branch has left nothing there: down by the highest ordinal, not the newest time.
        await client.call("CreateBranch", session_id=session_id, name="other", floor_id=turns[0].floor_id)
        selected = await client.call(
            "SelectSibling", session_id=session_id, branch="other", floor_id=turns[1].floor_id
        )
        assert selected.branch.head_floor_id == replies[-1].floor_id

        tree = (await client.call("GetTree", session_id=session_id)).floors
        seen: set[str] = set()
        for floor in tree:
            assert floor.depth == 0 or floor.parent_floor_id in seen
            seen.add(floor.floor_id)
        assert len(tree) == 15
