"""`stemma verify`: all is well, and a byte that changed on the disk."""

from pathlib import Path

from tests.cli.programs import Done, in_process, in_terminal, stemma
from tests.cli.talks import documents
from tests.conftest import DatabaseFactory
from tests.support.client import assistant, connect, user
from tests.support.service import RunningService, running_service


async def verify(service: RunningService, *arguments: str) -> Done:
    return await in_process("verify", *arguments, STEMMA_CONVERSATION=service.address)


async def sessions(service: RunningService, *words: str) -> list[str]:
    """One with each word in it."""
    ids = []
    async with connect(service.address) as client:
        for word in words:
            ids.append(await client.new_session())
            turn = {"input": [user(word)], "output": [assistant("yes")]}
            await client.call("AppendFloor", session_id=ids[-1], **turn)
    return ids


def flip(file: Path, before: bytes, after: bytes) -> None:
    content = file.read_bytes()
    assert content.count(before) == 1
    file.write_bytes(content.replace(before, after))


async def test_one_several_and_all_are_well(service: RunningService) -> None:
    ids = await sessions(service, "one", "two", "three")
    done = await verify(service, *ids[:2])
    assert (done.code, done.out, done.err) == (0, "2 sessions verified: no problems.\n", "")
    answers = documents(await verify(service, "--all", "--json"))
    assert answers == [{"sessionId": one, "problems": [], "repaired": "0"} for one in reversed(ids)]
    async with in_terminal("verify", "--all", STEMMA_CONVERSATION=service.address) as terminal:
        await terminal.see(r"verifying +3/\?")
        await terminal.see(r"^3 sessions verified: no problems\.")
        assert await terminal.end() == 0


async def test_an_unknown_session_is_said_and_the_others_are_looked_at(service: RunningService) -> None:
    (known,) = await sessions(service, "one")
    unknown = "0198a0f0-0000-7000-8000-000000000000"
    done = await verify(service, unknown, known)
    assert done.code == 1
    assert done.out == f"{unknown}  not verified: There is no such session. (NOT_FOUND)\n"
    assert done.err == "error: 1 session verified: no problems; 1 could not be verified.\n"


async def test_a_byte_that_changed_on_the_disk_is_named(database_factory: DatabaseFactory) -> None:
    with database_factory("sqlite") as url:
        async with running_service(url) as service:
            ids = await sessions(service, "untouched", "steadfast", "unchanged")
        # In the page, not in the index of words.
        flip(Path(url.removeprefix("sqlite:///")), b"\n\tsteadfast", b"\n\tsteadfasT")
        async with running_service(url) as service:
            done = await stemma("verify", "--all", STEMMA_CONVERSATION=service.address)
            assert done.code == 1
            lines = done.lines
            assert len(lines) == 1
            assert lines[0].startswith(f"{ids[1]}  page_digest  The page's bytes fail their digest.  floor ")
            assert ", page " in lines[0]
            assert done.err == "error: 1 problem in 1 of 3 sessions verified.\n"
            answers = documents(await verify(service, "--json", ids[1]))
            assert [problem["kind"] for problem in answers[0]["problems"]] == ["page_digest"]
            assert (await verify(service, ids[0], ids[2])).code == 0


async def test_repair_writes_anew_what_is_derived(database_factory: DatabaseFactory) -> None:
    with database_factory("sqlite") as url:
        async with running_service(url) as service:
            (session_id,) = await sessions(service, "one")
            async with service.service.store._engines.writing() as connection:
                await connection.exec_driver_sql("UPDATE session SET stored_tokens = 1")
            assert (await verify(service, session_id)).code == 1
            done = await verify(service, "--repair", session_id)
            assert done.code == 1
            assert done.err == "error: 1 problem in 1 of 1 session verified; 1 row written anew.\n"
            answers = documents(await verify(service, "--repair", "--json", session_id))
            assert answers == [{"sessionId": session_id, "problems": [], "repaired": "0"}]
