"""A whole life of a draft: everything that may be done to one, with a word in everything that it is given."""

import asyncio
from typing import Any

from stemma.kernel.v1 import floor_pb2

from tests.drafts.stage import Replica, Stage
from tests.support.client import assistant, request_for, user
from tests.tools_runs.acts import boxed, calls, decision, first, result, then, tool

# A client's, one that somebody approves, and one that writes state.
TOOLS = [
    tool("ask"),
    boxed("roll_dice", approval="TOOL_APPROVAL_ALWAYS"),
    boxed("set_variable", side_effect="TOOL_SIDE_EFFECT_SANDBOX"),
]

# What a draft has besides.
PROPOSING = [
    boxed(name) for name in ("get_config", "get_state", "propose_config_patch", "propose_state_patch")
]


def effects(word: str) -> dict[str, Any]:
    """At every scope, and of every kind."""
    return {
        "variables": [{"scope": scope, "key": "k", "value_json": f'"{word}"'} for scope in (1, 2, 3)],
        "memory": [{"op": 1, "kind": 1, "text": word, "fact_key": word}],
        "slots": [{"namespace": "n", "slot": "s", "value_json": f'"{word}"'}],
    }


async def source(stage: Stage, word: str) -> str:
    """A session with tools, whose history says the word and has it in its state."""
    project = (await stage.client.call("CreateProject", title=word, config={"tools": TOOLS})).project
    session_id = await stage.session(2, project_id=project.project_id)
    await stage.client.call(
        "AppendFloor",
        session_id=session_id,
        input=[user(f"history {word}")],
        output=[assistant(word)],
        effects=effects(word),
    )
    return session_id


async def made(stage: Stage, session_id: str, word: str, **fields: Any) -> str:
    """A draft of it, with the word in its title, metadata and configuration."""
    config = {
        "system_prompt": f"{word} {{{{k}}}}",
        "variables_json": f'{{"own":"{word}"}}',
        "tools": TOOLS + PROPOSING,
    }
    draft = await stage.draft.draft(
        session_id=session_id, title=word, metadata={word: word}, config=config, **fields
    )
    return draft.draft_id


async def lived(at: Replica, draft_id: str, word: str) -> None:
    """Messages, runs, tools, candidates, edits and moves; a run that fails and one that is cancelled. At the
    end, the head's page can be exported."""
    said = await at.say(draft_id, word)
    await at.respond(draft_id, word)
    await with_tools(at, draft_id, word)
    await with_candidates(at, draft_id, word)
    broken = at.part({"text": f"{word} and", "fail": {"reason": "PROVIDER_UNAVAILABLE", "after": 1}})
    frames = await at.frames(draft_id, input=broken.input)
    assert frames[-1].WhichOneof("event") == "failed"
    await cancelled(at, draft_id, word)
    edited = await at.call(
        "EditFloor",
        draft_id=draft_id,
        floor_id=said.floor_id,
        input=[user(word)],
        output=[assistant(word)],
        effects=effects(word),
    )
    await at.call("SelectSibling", draft_id=draft_id, floor_id=said.floor_id)
    await at.call("MoveHead", draft_id=draft_id, floor_id=edited.floor.floor_id)
    written = [assistant(word)]
    await at.call("RegenerateFloor", draft_id=draft_id, floor_id=edited.floor.floor_id, output=written)
    await at.respond(draft_id, edit={"floor_id": said.floor_id, "messages": [user(word)]})


async def with_tools(at: Replica, draft_id: str, word: str) -> floor_pb2.Floor:
    """A turn whose model calls tools: one is answered by the client, one approved, others act at once; then
    it proposes."""
    operations = [{"op": "add", "path": "/systemPrompt", "value": word}]
    writes = [{"key": "k", "value": word}]
    part = at.part(
        first(
            calls("ask", "a", n=1),
            calls("roll_dice", "b", dice="d6"),
            calls("set_variable", "c", key="k", value=word),
            calls("get_config"),
            calls("get_state"),
            text=word,
        ),
        {
            "after_results": 1,
            "tool_calls": [
                calls("propose_config_patch", operations=operations),
                calls("propose_state_patch", variables=writes),
            ],
        },
        then(word, after=2),
    )
    frames = await at.frames(draft_id, input=part.input)
    assert frames[-1].WhichOneof("event") == "requires_action", frames[-1]
    run = {"draft_id": draft_id, "run_id": frames[0].run_id}
    await at.call(
        "SubmitToolResults", **run, results=[result("a", word)], approvals=[decision("b", True, word)]
    )
    end = (await at.client.frames("draft.AttachRun", request_for("draft.AttachRun", **run)))[-1]
    assert end.WhichOneof("event") == "floor_committed", end
    kept = (await at.call("ListProposals", draft_id=draft_id)).proposals
    assert len(kept) == 2, end
    return end.floor_committed.floor


async def with_candidates(at: Replica, draft_id: str, word: str) -> None:
    """Two answers, of which the second is chosen."""
    part = at.part({"text": word})
    wishes = [{"instruction": word}, {}]
    frames = await at.frames(draft_id, input=part.input, candidates=wishes)
    assert frames[-1].WhichOneof("event") == "held", frames[-1]
    pages = [frame.page_completed.page.page_id for frame in frames if frame.HasField("page_completed")]
    await at.call("CommitFloor", draft_id=draft_id, floor_id=frames[-1].floor_id, page_id=pages[1])


async def cancelled(at: Replica, draft_id: str, word: str) -> None:
    """A run that is cancelled half-way, what it said being thrown away."""
    part = at.part({"deltas": [word, " late"]}, hold_at=1)
    running = asyncio.create_task(at.frames(draft_id, input=part.input))
    await part.held()
    (pending,) = [
        floor
        for floor in (await at.call("GetTree", draft_id=draft_id)).floors
        if floor.state == floor_pb2.FLOOR_STATE_GENERATING
    ]
    await at.call("CancelRun", draft_id=draft_id, run_id=pending.run_id, keep=2)
    assert (await running)[-1].WhichOneof("event") == "cancelled"
    part.go()
    await at.service.generation.hub.wait_idle()
