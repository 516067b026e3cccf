"""LangGraph's Postgres checkpointer: a graph of one node that answers, its messages kept by `add_messages`.

A turn is one `ainvoke`; loading is `aget_state`; a branch begins at the checkpoint that had 400 messages.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage  # type: ignore[import-not-found]
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # type: ignore[import-not-found]
from langgraph.graph import END, START, MessagesState, StateGraph  # type: ignore[import-not-found]

from tools.bench.peers.sizes import table_bytes
from tools.bench.peers.work import Result, given, in_turns, repeated, report

_THREAD = {"configurable": {"thread_id": "bench"}}


def _graph(saver: AsyncPostgresSaver, replies: Iterator[str]) -> Any:
    async def answer(_state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(next(replies))]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=saver)


async def main() -> None:
    url, work = given()
    asked, said = zip(*work.texts(), strict=True)
    inputs, replies = iter(asked), iter(said)
    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
        graph = _graph(saver, replies)

        async def append(config: dict[str, Any] = _THREAD) -> None:
            await graph.ainvoke({"messages": [HumanMessage(next(inputs))]}, config)

        fork: dict[str, Any] = {}
        await append()
        first = await table_bytes(url)
        for turn in range(1, work.turns):
            if turn == work.branch_turn:
                fork = (await graph.aget_state(_THREAD)).config
            await append()
        size = await table_bytes(url) - first

        async def load() -> Any:
            return (await graph.aget_state(_THREAD)).values["messages"]

        count = len(await load())
        appending, loading = await in_turns(append, load, work.times)
        before = await table_bytes(url)
        branching = await repeated(lambda: append(fork), work.branches)
        grown = await table_bytes(url) - before
    report(Result(appending, loading, work.each(size), branching, grown / work.branches, count))


if __name__ == "__main__":
    asyncio.run(main())
