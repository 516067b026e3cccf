"""C5: `VerifySession` names what was changed behind the service's back, and DATA_LOSS answers it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from kernel.storage.engine import Engines
from tests.conftest import DatabaseFactory
from tests.support.client import Client, assistant, connect, request_for, user
from tests.support.service import running_service

pytestmark = pytest.mark.asyncio(loop_scope="session")

Break = Callable[[AsyncConnection, str], Awaitable[None]]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(database_url: str) -> AsyncIterator[Client]:
    """Of one service for all tests: each breaks a session of its own."""
    async with running_service(database_url) as service, connect(service.address) as client:
        yield client


async def _tree(client: Client) -> str:
    """A session with a fork, a rollback, a failed and a pending floor, and a second branch."""
    session_id = (await client.call("CreateSession")).session.session_id
    turns = [
        (
            await client.call(
                "AppendFloor", session_id=session_id, input=[user(f"q{n}")], output=[assistant(f"a{n}")]
            )
        ).floor
        for n in range(4)
    ]
    await client.call(
        "EditFloor", floor_id=turns[1].floor_id, input=[user("edited")], output=[assistant("b")]
    )
    await client.call("CreateBranch", session_id=session_id, name="other", floor_id=turns[2].floor_id)
    opened = await client.call("OpenFloor", session_id=session_id, branch="other", input=[user("open")])
    await client.call("AbandonFloor", floor_id=opened.floor.floor_id)
    opened = await client.call("OpenFloor", session_id=session_id, branch="other", input=[user("again")])
    await client.call(
        "AddPage", floor_id=opened.floor.floor_id, slot="SLOT_OUTPUT", messages=[assistant("one")]
    )
    await client.call(
        "AddPage", floor_id=opened.floor.floor_id, slot="SLOT_OUTPUT", messages=[assistant("two")]
    )
    await client.call("SelectSibling", session_id=session_id, floor_id=turns[1].floor_id)
    return session_id


def _sql(statement: str) -> Break:
    async def run(connection: AsyncConnection, session_id: str) -> None:
        raw = (
            session_id
            if connection.dialect.name == "postgresql"
            else bytes.fromhex(session_id.replace("-", ""))
        )
        result = await connection.execute(text(statement), {"s": raw})
        assert result.rowcount == 1

    return run


BREAKS: dict[str, Break] = {
    "page_digest": _sql(
        "UPDATE floor SET output_blob = input_blob WHERE session_id = :s AND segment = 0 AND depth = 2"
    ),
    "page_tokens": _sql(
        "UPDATE floor SET input_tokens = input_tokens + 1 WHERE session_id = :s AND segment = 0 AND depth = 2"
    ),
    "floor_digest": _sql(
        "UPDATE floor SET digest = input_digest WHERE session_id = :s AND segment = 0 AND depth = 3"
    ),
    "path_tokens": _sql(
        "UPDATE floor SET path_tokens = path_tokens + 1 WHERE session_id = :s AND segment = 0 AND depth = 4"
    ),
    "ordinal": _sql("UPDATE floor SET ordinal = 0 WHERE session_id = :s AND segment = 1 AND depth = 2"),
    "segment": _sql(
        "UPDATE segment SET parent_depth = 2 WHERE session_id = :s AND segment = 1 AND parent_depth = 1"
    ),
    "stored_tokens": _sql("UPDATE session SET stored_tokens = stored_tokens + 5 WHERE session_id = :s"),
    "head": _sql("UPDATE branch SET depth = depth + 1 WHERE session_id = :s AND name = 'main'"),
    "pending": _sql(
        "UPDATE branch SET pending_floor_id = head_floor_id WHERE session_id = :s AND name = 'other'"
    ),
    "head_moves": _sql(
        "UPDATE head_move SET to_floor_id = from_floor_id WHERE session_id = :s AND branch = 'main'"
        " AND number = (SELECT max(number) FROM head_move WHERE session_id = :s AND branch = 'main')"
    ),
    "root": _sql("UPDATE floor SET digest = NULL WHERE session_id = :s AND segment = 0 AND depth = 0"),
    "depth": _sql(
        "UPDATE floor SET parent_segment = 1, parent_depth = 2"
        " WHERE session_id = :s AND segment = 0 AND depth = 3"
    ),
}


async def _break(database_url: str, session_id: str, what: Break) -> None:
    engines = Engines(database_url)
    try:
        async with engines.writing() as connection:
            await what(connection, session_id)
    finally:
        await engines.close()


async def test_a_sound_session_has_no_problems(client: Client) -> None:
    session_id = await _tree(client)
    assert list((await client.call("VerifySession", session_id=session_id)).problems) == []
    await client.respond(session_id, input={"messages": [user("hello")]})
    assert list((await client.call("VerifySession", session_id=session_id)).problems) == []


@pytest.mark.parametrize("kind", list(BREAKS))
async def test_what_was_changed_is_named(client: Client, database_url: str, kind: str) -> None:
    broken, sound = await _tree(client), await _tree(client)
    await _break(database_url, broken, BREAKS[kind])
    problems = (await client.call("VerifySession", session_id=broken)).problems
    assert kind in {problem.kind for problem in problems}
    assert list((await client.call("VerifySession", session_id=sound)).problems) == []


async def test_bad_input_56_a_flipped_byte_is_data_loss_for_its_session_alone(
    client: Client, database_url: str
) -> None:
    broken, sound = await _tree(client), await _tree(client)
    before = await client.raw("ListPath", request_for("ListPath", session_id=sound))
    await _break(database_url, broken, BREAKS["page_digest"])
    for call in ("ListPath", "AssembleContext"):
        refusal = await client.refused(call, session_id=broken)
        assert (refusal.code, refusal.reason) == ("DATA_LOSS", "DIGEST_MISMATCH")
    answers = await asyncio.gather(
        *(client.raw("ListPath", request_for("ListPath", session_id=sound)) for _ in range(4))
    )
    assert set(answers) == {before}
