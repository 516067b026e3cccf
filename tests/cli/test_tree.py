"""`stemma tree` and `stemma sessions` on a real service."""

import json
import re

from tests.cli.programs import Done, in_process
from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService


async def run(service: RunningService, *arguments: str) -> Done:
    done = await in_process(*arguments, STEMMA_CONVERSATION=service.address)
    assert (done.code, done.err) == (0, "")
    return done


async def append(client: Client, session_id: str, said: str, answered: str = "yes") -> str:
    turn = {"input": [user(said)], "output": [assistant(answered)]}
    return (await client.call("AppendFloor", session_id=session_id, **turn)).floor.floor_id


async def test_branches_versions_and_ends_are_drawn(service: RunningService) -> None:
    async with connect(service.address) as client:
        session_id = (await client.call("CreateSession", title="Plans")).session.session_id
        first = await append(client, session_id, "one")
        await append(client, session_id, "two", "so  many\nwords " * 20)
        again = {"output": [assistant("no")]}
        await client.call("RegenerateFloor", floor_id=first, **again)
        await client.call("CreateBranch", session_id=session_id, name="side", floor_id=first)
        failed = (await client.call("OpenFloor", session_id=session_id, input=[user("given up")])).floor
        await client.call("AbandonFloor", floor_id=failed.floor_id, reason="bored")
        await client.call("OpenFloor", session_id=session_id, input=[user("still open")])
    done = await run(service, "tree", session_id)
    assert done.lines == [
        f"{session_id} · Plans · 5 turns in all",
        "● the beginning",
        "├─○ 1 reply ‹1/2›  one  →  yes  ← side",
        "│ ○ 2  two  →  so many words so many words so many words s…",
        "● 1 reply ‹2/2›  one  →  no  ← main",
        "├─✗ 2  given up  failed: bored",
        "└─◌ 2  still open  unfinished, on main",
        "● on main  ○ elsewhere  ◌ unfinished  ✗ failed",
    ]
    side = await run(service, "tree", session_id, "--branch", "side")
    assert "● 1 reply ‹1/2›  one  →  yes  ← side" in side.lines


async def test_many_turns_are_drawn_short_or_whole(service: RunningService) -> None:
    async with connect(service.address) as client:
        session_id = await client.new_session()
        for number in range(1, 41):
            floor_id = await append(client, session_id, f"turn {number}")
            if number == 20:
                middle = floor_id
        await client.call("MoveHead", session_id=session_id, branch="main", floor_id=middle)
        await append(client, session_id, "another way")
    done = await run(service, "tree", session_id)
    assert "⋮ 13 turns" in done.lines
    assert "● 21 input ‹2/2›  another way  →  yes  ← main" in done.lines
    assert len(done.lines) < 25
    whole = await run(service, "tree", session_id, "--whole")
    assert len(whole.lines) == 41 + 3

    answer = json.loads((await run(service, "tree", session_id, "--json")).out)
    assert len(answer["floors"]) == 42
    assert answer["nextPageToken"] == ""


async def test_sessions_are_listed_with_what_helps_to_find_one(service: RunningService) -> None:
    assert "There are no conversations yet" in (await run(service, "sessions")).out
    async with connect(service.address) as client:
        ids = []
        for title, said in (("A title", "unseen"), ("", "first words"), ("", "")):
            ids.append((await client.call("CreateSession", title=title)).session.session_id)
            if said:
                await append(client, ids[-1], said)
    done = await run(service, "sessions")
    assert [re.sub(" {2,}", "  ", line) for line in done.lines] == [
        f"{ids[2]}  just now  0 turns  (nothing said yet)",
        f"{ids[1]}  just now  1 turn  first words",
        f"{ids[0]}  just now  1 turn  A title",
    ]
    limited = await run(service, "sessions", "-n", "1")
    assert len(limited.lines) == 2
    assert "--limit 2 shows them" in limited.lines[1]
    answer = json.loads((await run(service, "--json", "sessions")).out)
    assert [session["sessionId"] for session in answer["sessions"]] == ids[::-1]
