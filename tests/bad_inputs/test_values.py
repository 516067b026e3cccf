"""Values that other systems change, and texts that other systems would run: 31, 33 and 34."""

import json
from typing import Any

import pytest

from tests.bad_inputs.world import World, a_world, invalid
from tests.support.client import Client, say

pytestmark = pytest.mark.asyncio(loop_scope="session")

# The first integer that a double does not hold, and neighbours of what 64 bits hold.
LARGE = [2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**64 + 1, 10**40 + 7]
KEYS = [
    "__proto__",
    "constructor",
    "toString",
    "$ne",
    "$where",
    "a'||(select version())||'",
    "'; DROP TABLE floor; --",
    '$.x"',
    '"',
    "\\",
    "%",
    "_",
    "{}",
    "{{system}}",
    "\u202e\u2066",
]
TOOL = 4


def tool_call(arguments: str, **metadata: str) -> Any:
    message = say(3, "calling", metadata=metadata)
    message.parts.add(tool_call={"call_id": "c", "name": "f", "arguments_json": arguments})
    return message


async def test_bad_input_31_large_integers_travel_as_they_are(migrated_url: str) -> None:
    """In a call's arguments and in a configuration's values: the text comes back to the letter."""
    text = json.dumps({"numbers": LARGE, "nested": {"a": [2**53 + 1]}, "as": 1.0, "e": 1e22})
    async with a_world(migrated_url) as world:
        client = Client(world.raw.channel)
        config = {"variables_json": text, "extensions_json": text, "model": {"extra_json": text}}
        session = (await client.call("CreateSession", config=config)).session
        floor = (
            await client.call("AppendFloor", session_id=session.session_id, output=[tool_call(text)])
        ).floor
        read = (await client.call("GetFloor", floor_id=floor.floor_id)).floor
        assert read.output_page.messages[0].parts[1].tool_call.arguments_json == text
        context = await client.call("AssembleContext", session_id=session.session_id)
        assert context.messages[0].parts[1].tool_call.arguments_json == text
        effective = (await client.call("GetEffectiveConfig", session_id=session.session_id)).config
        for kept in (effective.variables_json, effective.extensions_json, effective.model.extra_json):
            assert json.loads(kept) == json.loads(text)
            for number in LARGE:
                assert str(number) in kept


async def test_bad_input_33_keys_are_data(migrated_url: str) -> None:
    """As keys of metadata and of variables, as principals and titles: kept to the letter, and nothing else
    happens."""
    async with a_world(migrated_url) as world:
        client, before = Client(world.raw.channel), await world.rows()
        variables = json.dumps({key: key for key in KEYS})
        session = (await client.call("CreateSession", config={"variables_json": variables})).session
        message = tool_call(variables, **{key: key for key in KEYS})
        floor = (await client.call("AppendFloor", session_id=session.session_id, output=[message])).floor
        (read,) = (await client.call("GetFloor", floor_id=floor.floor_id)).floor.output_page.messages
        assert dict(read.metadata) == {key: key for key in KEYS}
        assert read.parts[1].tool_call.arguments_json == variables
        effective = await client.call("GetEffectiveConfig", session_id=session.session_id)
        assert json.loads(effective.config.variables_json) == {key: key for key in KEYS}
        for key in KEYS:
            answer = await world.ask("CreateSession", world.sample("CreateSession", title=key))
            assert answer.code.name == "OK", (key, answer)
        assert set(before["floor"]) <= set((await world.rows())["floor"])
        assert await world.healthy()


NAMES = ["main'--", "a b", "main;drop", "(a+)+$", "a" * 65, "../main", "ma\u0131n", "-x", "%", "main\n"]


async def test_bad_input_34_names_and_orders_are_no_language(world: World) -> None:
    """Nothing is searched by text yet: what selects and orders is a name of a small alphabet, or a number."""
    for name in NAMES:
        for rpc in ("ListPath", "ListHeadMoves", "AppendFloor", "AssembleContext"):
            invalid(await world.ask(rpc, world.sample(rpc, branch=name)), "branch")
        invalid(await world.ask("CreateBranch", world.sample("CreateBranch", name=name)), "name")
        invalid(await world.ask("DiffBranches", world.sample("DiffBranches", target=name)), "target")
    for order in (-1, 3, 2**31 - 1):
        for rpc in ("ListPath", "ListSessions"):
            invalid(await world.ask(rpc, world.sample(rpc, order=order)), "order")
    for format in ("stemma; DROP TABLE floor", "x" * 10_000, "(a+)+$"):
        invalid(await world.ask("ExportSession", world.sample("ExportSession", format=format)), "format")
