"""`stemma staged` on a real service: what waits is looked at and decided."""

import json
from typing import Any

from tests.cli.programs import Done, in_process
from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService


async def run(service: RunningService, *arguments: str) -> Done:
    done = await in_process("staged", *arguments, STEMMA_CONVERSATION=service.address)
    assert (done.code, done.err) == (0, "")
    return done


async def stage(client: Client, session_id: str, text: str, **fields: Any) -> str:
    """An opening: configuration, state and a turn."""
    target = {"session_id": session_id, "placement": "PLACEMENT_NEXT_FLOOR"}
    operations = json.dumps([{"op": "add", "path": "/systemPrompt", "value": text}])
    effects = {"variables": [{"scope": 2, "key": "coins", "value_json": "3"}]}
    parts = [
        {"config_patch": {"operations_json": operations}},
        {"state_patch": {"effects": effects}},
        {"output_page": {"input": [user("asked")], "output": [assistant(text)]}},
    ]
    answer = await client.call("StageWrite", target=target, parts=parts, **fields)
    return answer.staged_write.staged_write_id


async def test_entries_are_listed_shown_previewed_and_decided(service: RunningService) -> None:
    assert "Nothing is staged" in (await run(service, "list")).out
    async with connect(service.address) as client:
        session_id = await client.new_session()
        first = await stage(client, session_id, "Be slow.", reason="as you asked", on_behalf_of="anna")
        second, third = [await stage(client, session_id, f"text {n}") for n in range(2)]
        listed = await run(service, "list", "--session", session_id)
        assert [line.split()[0] for line in listed.lines] == [third, second, first]
        what = "a change of configuration, a change of state, a reply"
        assert listed.lines[2] == f"{first}  staged     {what}  for session {session_id}  by anna"
        more = await run(service, "list", "-n", "1", "--by", "local")
        assert more.lines[1:] == ["… and more: --limit 2 shows them."]

        shown = await run(service, "show", first)
        assert shown.lines[:2] == [
            f"{first} · staged · {what} for session {session_id}",
            "staged by anna: as you asked",
        ]
        assert shown.lines[2].startswith("expires ")
        assert '[{"op": "add", "path": "/systemPrompt", "value": "Be slow."}]' in shown.lines
        assert shown.lines[-2:] == ["user: asked", "assistant: Be slow."]

        seen = await run(service, "preview", first)
        assert seen.lines[:5] == [
            "/config/systemPrompt",
            '+ "Be slow."',
            "/variables/SESSION/coins",
            "+ 3",
            "/input",
        ]
        accepted = await run(service, "accept", first, "--reason", "good", "--version", "1")
        assert "accepted by local: good" in accepted.lines
        assert len(await client.path_ids(session_id)) == 1
        rejected = await run(service, "reject", second, "-r", "no")
        assert "rejected by local: no" in rejected.lines
        stale = await in_process("staged", "preview", third, STEMMA_CONVERSATION=service.address)
        assert (stale.code, "STALE" in stale.err, "--allow-stale" in stale.out) == (0, True, True)
        refused = await in_process(
            "staged", "accept", third, "-r", "why", STEMMA_CONVERSATION=service.address
        )
        assert (refused.code, "has changed" in refused.err) == (1, True)
        withdrawn = await run(service, "withdraw", third, "-r", "mine")
        assert "withdrawn by local: mine" in withdrawn.lines
        only = await run(service, "list", "--state", "rejected")
        assert [line.split()[0] for line in only.lines] == [second]


async def test_with_json_it_is_what_the_api_answered(service: RunningService) -> None:
    async with connect(service.address) as client:
        session_id = await client.new_session()
        entry = await stage(client, session_id, "Hello.")
    listed = json.loads((await run(service, "list", "--json")).out)
    assert [one["stagedWriteId"] for one in listed["stagedWrites"]] == [entry]
    shown = json.loads((await run(service, "show", entry, "--json")).out)
    assert shown["stagedWrite"]["parts"][2]["outputPage"]["output"][0]["role"] == "ROLE_ASSISTANT"
    seen = json.loads((await run(service, "preview", entry, "--json")).out)
    assert (seen["stale"], seen["conflicts"]) == (False, [])
    accepted = json.loads((await run(service, "accept", entry, "-r", "good", "--json")).out)
    assert accepted["stagedWrite"]["state"] == "STAGED_WRITE_STATE_ACCEPTED"
    assert accepted["floor"]["floorId"] == accepted["stagedWrite"]["resultFloorId"]
