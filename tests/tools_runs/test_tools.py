"""Which tools a run has, and which of them ask before they act."""

import json

import pytest

from kernel.prompt.config import Tool
from kernel.tools.builtin import BUILT_INS
from kernel.tools.calls import checked, unique_id
from kernel.tools.mcp_model import McpTool
from kernel.tools.model import Approval, Owner, SideEffect, effective, tool_faults
from kernel.tools.schema import argument_schema
from kernel.tree.message import ToolCall

PARAMETERS = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
# As a common generator writes it for an address; our engine knows no look-around.
EMAIL = '{"properties":{"to":{"type":"string","pattern":"^(?!\\\\.)[^@]+@.+$"},"n":{"type":"integer"}}}'


def test_the_configuration_is_the_allow_list_in_its_order() -> None:
    tools = [Tool("b", owner=Owner.CLIENT), Tool("roll_dice", owner=Owner.BUILT_IN), Tool("a")]
    assert list(effective(tools, {}).by_name) == ["b", "roll_dice", "a"]


def test_a_built_in_tool_says_itself_what_the_configuration_leaves_out() -> None:
    plain, named = Tool("roll_dice", owner=Owner.BUILT_IN), "Roll for the hero."
    found = effective([plain], {}).by_name["roll_dice"]
    assert found.spec.description == BUILT_INS["roll_dice"].description
    assert found.spec.parameters_json == BUILT_INS["roll_dice"].parameters_json
    narrow = '{"properties":{"dice":{"const":"d20"}}}'
    tool = Tool("roll_dice", named, narrow, owner=Owner.BUILT_IN)
    tools = effective([tool], {}).by_name
    assert (tools["roll_dice"].spec.description, tools["roll_dice"].spec.parameters_json) == (named, narrow)
    for dice, fits in (("d20", True), ("d6", False), (20, False)):
        _, fault = checked(tools, ToolCall("1", "roll_dice", json.dumps({"dice": dice})))
        assert (fault == "") is fits
    assert "required" in checked(tools, ToolCall("1", "roll_dice", "{}"))[1], "ours holds beside theirs"


def test_an_mcp_tool_is_as_its_server_lists_it() -> None:
    listed = {"mail": [McpTool("send", "Sends.", EMAIL)], "away": "The server cannot be reached."}
    tools = [
        Tool("send", owner=Owner.MCP, server="mail"),
        Tool("gone", owner=Owner.MCP, server="mail"),
        Tool("far", owner=Owner.MCP, server="away"),
        Tool("lost", owner=Owner.MCP, server="unknown"),
    ]
    found = effective(tools, listed)
    assert list(found.by_name) == ["send"]
    send = found.by_name["send"]
    assert (send.spec.description, send.spec.parameters_json, send.server) == ("Sends.", EMAIL, "mail")
    # What our engine does not know is the server's to check; the rest is checked here.
    assert checked(found.by_name, ToolCall("1", "send", '{"to":"nobody","n":1}'))[1] == ""
    assert checked(found.by_name, ToolCall("1", "send", '{"n":"one"}'))[1] != ""
    assert [name for name, _ in found.left_out] == ["gone", "far", "lost"]
    assert dict(found.left_out)["far"] == "The server cannot be reached."


@pytest.mark.parametrize("owner", [0, Owner.CLIENT, Owner.MCP])
@pytest.mark.parametrize(
    ("side_effect", "approval", "asks"),
    [
        (0, 0, True),
        (SideEffect.IRREVERSIBLE, 0, True),
        (SideEffect.SANDBOX, 0, False),
        (SideEffect.NONE, 0, False),
        (0, Approval.NEVER, False),
        (SideEffect.IRREVERSIBLE, Approval.NEVER, False),
        (SideEffect.NONE, Approval.ALWAYS, True),
    ],
)
def test_what_asks(owner: int, side_effect: int, approval: int, asks: bool) -> None:
    """What is not said to be harmless is taken for irreversible, and that asks unless told not to."""
    tool = Tool("t", "", PARAMETERS, side_effect, approval, owner, "s")
    found = effective([tool], {"s": [McpTool("t", "", "{}")]}).by_name["t"]
    assert found.asks is asks
    assert found.side_effect == (side_effect or SideEffect.IRREVERSIBLE)


@pytest.mark.parametrize("name", BUILT_INS)
def test_a_built_in_tool_needs_no_approval_by_itself(name: str) -> None:
    made = effective([Tool(name, owner=Owner.BUILT_IN)], {}).by_name[name]
    assert not made.asks
    assert made.side_effect is not SideEffect.IRREVERSIBLE
    asked = effective([Tool(name, owner=Owner.BUILT_IN, approval=Approval.ALWAYS)], {}).by_name[name]
    assert asked.asks


def test_faults_of_a_configuration() -> None:
    tools = [
        ("a", Owner.CLIENT, PARAMETERS),
        ("made_up", Owner.BUILT_IN, ""),
        ("b", Owner.CLIENT, '{"$ref":"http://127.0.0.1/x"}'),
        ("c", Owner.MCP, ""),
    ]
    assert [(n, field) for n, field, _ in tool_faults(tools)] == [(1, "name"), (2, "parameters_json")]
    large = json.dumps({"description": "x" * 60_000})
    assert [n for n, _, _ in tool_faults([(str(n), 1, large) for n in range(128)])] == [4]
    many = json.dumps({"properties": {str(n): {"pattern": str(n)} for n in range(30)}})
    assert [n for n, _, _ in tool_faults([(str(n), 1, many) for n in range(128)])] == [2]


@pytest.mark.parametrize(
    ("name", "arguments", "kept", "says"),
    [
        ("t", '{"n":1}', '{"n":1}', ""),
        ("t", '{"n":9007199254740993}', '{"n":9007199254740993}', ""),
        ("t", '{"n":"one"}', '{"n":"one"}', "$.n: 'one' is not of type 'integer'"),
        ("t", "", "{}", "'n' is a required property"),
        ("t", "[1]", "[1]", "must be one JSON object"),
        ("t", '{"n":1', "{}", 'It began: {"n":1'),
        ("t", '{"n":1,"n":2}', "{}", "the same key twice"),
        ("t", '{"n":NaN}', "{}", "NaN"),
        ("t", '{"n":"\\ud800"}', "{}", "surrogate"),
        ("t", "[" * 100_000, "{}", "32 levels"),
        ("other", '{"n":1}', '{"n":1}', "The tools are: t."),
        ("other", "{", "{}", "is not JSON"),
    ],
)
def test_arguments_as_they_are_kept_and_what_is_said_of_them(
    name: str, arguments: str, kept: str, says: str
) -> None:
    tools = effective([Tool("t", "", PARAMETERS)], {}).by_name
    found, fault = checked(tools, ToolCall("1", name, arguments))
    assert found == kept
    assert says in fault
    assert (fault == "") is (says == "")
    assert len(fault) < 1_000
    assert argument_schema("").faults(json.loads(found)) == [], "what is kept can be read again"


def test_ids_are_unique_and_the_providers_where_they_can_be() -> None:
    assert unique_id("a", 3, {"b"}) == "a"
    assert unique_id("a", 3, {"a"}) == "a_3"
    assert unique_id("a", 3, {"a", "a_3"}) == "a_4"
    assert unique_id("", 3, {}) == "call_3"
    assert unique_id("x" * 201, 4, {}) == "call_4"
    assert unique_id("a\0", 5, {"call_5"}) == "call_5_5"
