"""Tools in a chat: what a model wants to call, and what the user lets it."""

import json

from stemma.kernel.v1 import config_pb2

from tests.cli.talks import chat
from tests.conftest import DatabaseFactory
from tests.support.client import connect
from tests.support.service import running_service

CALL = {"name": "send_mail", "arguments": {"to": "ann"}}
LOOKUP = {"name": "look_up", "arguments": {"word": "stemma"}}
SCRIPT = json.dumps(
    {
        "replies": [
            {"when": "mail", "after_results": 0, "text": "One moment. ", "tool_calls": [CALL]},
            {"when": "mail", "after_results": 1, "text": "Done with it."},
            {"when": "word", "after_results": 0, "tool_calls": [LOOKUP]},
            {"when": "word", "after_results": 1, "text": "It is a tree."},
        ]
    }
)
TOOLS = [
    {"name": "send_mail", "side_effect": config_pb2.TOOL_SIDE_EFFECT_IRREVERSIBLE},
    {"name": "look_up", "side_effect": config_pb2.TOOL_SIDE_EFFECT_NONE},
]


async def test_a_refused_call_an_approved_one_and_a_result(database_factory: DatabaseFactory) -> None:
    with database_factory("sqlite") as url:
        async with running_service(url, script=SCRIPT) as service, connect(service.address) as client:
            session = (await client.call("CreateSession", config={"tools": TOOLS})).session.session_id
            lines = ["mail", "/refuse not today", "word", "/result a tree of versions", "/regenerate 1"]
            done = await chat(service, *lines, "/approve", "/result sent", "/approve", arguments=[session])
            last = [message for request in service.sent for message in request.messages]
    assert 'wants to call send_mail({"to": "ann"}). /approve' in done.out
    assert "← error: " in done.out
    assert "not today" in done.out
    assert 'waits for the result of look_up({"word": "stemma"}). /result' in done.out
    assert "← a tree of versions" in done.out
    assert "It is a tree." in done.out
    assert "← sent" in done.out
    assert done.out.count("Done with it.") == 2
    assert "in full" not in done.out
    assert "Nothing waits for an answer." in done.err
    assert any("not today" in str(message.parts) for message in last)
