"""What goes in comes out, to the byte: values (bad input 31) and keys that look like code (33)."""

import json
from typing import Any

import pytest

from tests.state.stage import Stage
from tests.support.client import user

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEYS = ["__proto__", "constructor", "$ne", "a'||(select 1)--", '$.x"', "a.b", "\u202e", " ", "%s", "x" * 128]


async def append(stage: Stage, **effects: Any) -> Any:
    words = {"session_id": stage.session_id, "input": [user("x")]}
    return (await stage.client.call("AppendFloor", **words, effects=effects)).floor


async def write(stage: Stage, variables: list[dict[str, Any]]) -> None:
    await stage.client.call("WriteState", session_id=stage.session_id, variables=variables)


async def test_bad_input_31_values_come_back_to_the_byte(stage: Stage) -> None:
    values = [
        "9007199254740993",
        '{"b":1,"a":{"z":[],"y":null}}',
        "[" * 32 + "]" * 32,
        "1.50",
        "-0",
        "1e2",
        ' { "spaced" : "\\u00e9é" } ',
        '"' + "x" * 60_000 + '"',
        "9" * 1_000,
    ]
    variables = [{"key": f"v{n}", "value_json": text} for n, text in enumerate(values)]
    slots = [{"namespace": "n", "slot": f"s{n}", "value_json": text} for n, text in enumerate(values)]
    floor = await append(stage, variables=variables, slots=slots)
    assert [one.value_json for one in floor.effects.variables] == values
    await write(stage, variables)
    found = await stage.state()
    for scope in (1, 2):
        assert [v.value_json for v in found.variables if v.scope == scope] == values
    assert [slot.value_json for slot in found.slots] == values


async def test_bad_input_33_keys_are_data(stage: Stage) -> None:
    variables = [{"key": key, "value_json": json.dumps(key)} for key in KEYS]
    slots = [{"namespace": key, "slot": key, "value_json": json.dumps(key)} for key in KEYS]
    facts = [{"op": 1, "kind": 1, "fact_key": key, "text": key} for key in KEYS]
    await append(stage, variables=variables, slots=slots, memory=facts)
    await write(stage, variables)
    found = await stage.state()
    for scope in (1, 2):
        shown = {v.key: json.loads(v.value_json) for v in found.variables if v.scope == scope}
        assert shown == {key: key for key in KEYS}
    assert {(s.namespace, s.slot) for s in found.slots} == {(key, key) for key in KEYS}
    assert [(item.fact_key, item.text) for item in found.memory] == [(key, key) for key in KEYS]
