"""Contexts are kept under all that they depend on: each of it, changed, changes the answer (T4)."""

from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from tests.support.client import Client, assistant, connect, text_of, user
from tests.support.service import running_service


async def texts(client: Client, session_id: str, **fields: Any) -> list[str]:
    answer = await client.call("AssembleContext", session_id=session_id, **fields)
    return [text_of(message) for message in answer.messages]


async def twice(client: Client, session_id: str, **fields: Any) -> list[str]:
    """The first answer may be made, the second is kept: they are the same."""
    first = await client.call("AssembleContext", session_id=session_id, **fields)
    assert await client.call("AssembleContext", session_id=session_id, **fields) == first
    return [text_of(message) for message in first.messages]


async def test_everything_that_a_context_depends_on_changes_it(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        project = (await client.call("CreateProject", title="p")).project.project_id
        session = (await client.call("CreateSession", project_id=project)).session.session_id
        turn = {"session_id": session, "output": [assistant("a")]}
        first = (await client.call("AppendFloor", input=[user("one")], **turn)).floor.floor_id
        assert await twice(client, session) == ["one", "a"]
        await client.call("AppendFloor", input=[user("two")], **turn)
        assert await twice(client, session) == ["one", "a", "two", "a"]
        assert await twice(client, session, floor_id=first) == ["one", "a"]
        overrides = {"overrides": {"system_prompt": "briefly"}}
        assert await twice(client, session, options=overrides) == ["briefly", "one", "a", "two", "a"]
        for name, target in (("project", project), ("session", session)):
            await client.call(
                f"Update{name.title()}",
                **{f"{name}_id": target},
                config={"system_prompt": name},
                update_mask=FieldMask(paths=["config.system_prompt"]),
            )
            assert await twice(client, session) == [name, "one", "a", "two", "a"]
        given = {"messages": [user("now")]}
        assert await twice(client, session, input=given) == ["session", "one", "a", "two", "a", "now"]
        await client.call("MoveHead", session_id=session, floor_id=first)
        assert await twice(client, session) == ["session", "one", "a"]
        opened = await client.call("OpenFloor", session_id=session, input=[user("pending")])
        assert await twice(client, session) == ["session", "one", "a", "pending"]
        await client.call("AbandonFloor", floor_id=opened.floor.floor_id)
        assert await twice(client, session) == ["session", "one", "a"]


async def test_live_values_of_either_layer_change_it(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        project = (await client.call("CreateProject", title="p")).project.project_id
        config = {"system_prompt": "hp {{hp}}, luck {{luck}}"}
        made = await client.call("CreateSession", project_id=project, config=config)
        session = made.session.session_id
        assert await twice(client, session) == ["hp , luck "]
        for number in ("1", "2"):
            for key, scope, target in (
                ("hp", 2, {"session_id": session}),
                ("luck", 3, {"project_id": project}),
            ):
                value = {"scope": scope, "key": key, "value_json": number}
                await client.call("WriteState", **target, variables=[value])
            assert await twice(client, session) == [f"hp {number}, luck {number}"]


async def test_the_token_tax_is_of_now(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        floor = (await client.call("AppendFloor", session_id=session, input=[user("one")])).floor
        taxes = []
        for _ in range(3):
            answer = await client.call("AssembleContext", session_id=session, floor_id=floor.floor_id)
            taxes.append(answer.explanation.tokens_abandoned)
            await client.call("EditFloor", floor_id=floor.floor_id, input=[user("2")], output=[user("3")])
        assert taxes[0] == 0
        assert taxes[0] < taxes[1] < taxes[2]
