"""Several processes behind one address (PostgreSQL): one service to its clients, whichever answers."""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack

from tests.runs.programs import children, exit_of, until
from tests.support.client import Client, connect, text_of, user
from tests.support.processes import Running, conversation_service, running
from tests.support.service import SECRET_KEY

PROCESSES = 2
CONNECTIONS = 16


def settings(database_url: str, **more: str) -> dict[str, str]:
    return {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_CONVERSATION_DATABASE_URL": database_url,
        "STEMMA_SECRET_KEY": SECRET_KEY,
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_PROCESSES": str(PROCESSES),
        **more,
    }


async def many(stack: AsyncExitStack, program: Running) -> list[Client]:
    """Clients with a connection each: the kernel shares them out."""
    connections = [connect(program.address, own_connection=True) for _ in range(CONNECTIONS)]
    return [await stack.enter_async_context(one) for one in connections]


async def test_turns_through_any_process_make_one_path(postgres_database: str) -> None:
    async with conversation_service(settings(postgres_database)) as program, AsyncExitStack() as stack:
        assert len(children(program.pid)) == PROCESSES
        clients = await many(stack, program)
        session = await clients[0].new_session()
        await asyncio.gather(
            *(
                client.call("AppendFloor", session_id=session, input=[user(f"{number}")])
                for number, client in enumerate(clients)
            )
        )
        paths = [await client.call("ListPath", session_id=session) for client in clients]
        assert all(path == paths[0] for path in paths)
        said = {text_of(floor.input_page.messages[0]) for floor in paths[0].floors}
        assert said == {f"{number}" for number in range(CONNECTIONS)}


async def test_a_process_that_dies_is_replaced_and_the_others_go_on(postgres_database: str) -> None:
    async with conversation_service(settings(postgres_database)) as program, AsyncExitStack() as stack:
        victim = min(children(program.pid))
        os.kill(victim, signal.SIGKILL)
        await program.line("a process ended by itself; another is started")

        async def replaced() -> bool:
            return len(set(children(program.pid)) - {victim}) == PROCESSES

        await until("another process", replaced, 30)
        clients = await many(stack, program)
        session = await clients[0].new_session()
        for client in clients:
            await client.call("AppendFloor", session_id=session, input=[user("x")])
        assert len(await clients[0].path_ids(session)) == CONNECTIONS


async def test_processes_end_with_their_parent_however_it_ends(postgres_database: str) -> None:
    async with conversation_service(settings(postgres_database)) as program:
        gone = [exit_of(pid) for pid in children(program.pid)]
        await program.kill()
        await asyncio.wait_for(asyncio.gather(*gone), 30)
    async with conversation_service(settings(postgres_database)) as program:
        assert await program.stop() == 0


async def refused(environment: dict[str, str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "conversation_service"]
    async with running("conversation_service", command, environment, ready="") as program:
        return await program.wait(), "\n".join(program.lines)


async def test_what_several_processes_cannot_do(postgres_database: str) -> None:
    status, said = await refused(settings(""))
    assert status == 1
    assert "STEMMA_PROCESSES is for PostgreSQL" in said
    status, said = await refused(settings(postgres_database, STEMMA_PROVIDER="nonsense"))
    assert status == 1
    assert "did not start" in said
    status, said = await refused(settings(postgres_database, STEMMA_CONVERSATION="127.0.0.1:99999"))
    assert status == 1
    assert "Cannot listen on 127.0.0.1:99999" in said
