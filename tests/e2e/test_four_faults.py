"""What a plain log does to a conversation, and this service cannot: fault × engine × transport.

A log sends edited-away text, replies nobody chose, turns that were rolled back, and charges for
abandoned ones for ever. Here "sent" is what the scripted provider recorded.
"""

import json

import pytest
from stemma.conversation.v1 import context_service_pb2

from tests.e2e.talk import Talk, another_session, talking
from tests.support.client import assistant, texts, user

pytestmark = pytest.mark.parametrize("transport", ["rest", "grpc"])

REPLIES = json.dumps({"replies": [{"text": f"the {which} reply"} for which in ("first", "second", "third")]})


async def test_an_edited_away_text_reaches_the_model_nowhere(migrated_url: str, transport: str) -> None:
    async with talking(transport, migrated_url) as talk:
        first = await talk.say("I have fifteen apples.")
        assert talk.sent_texts() == ["I have fifteen apples."]
        before = len(talk.sent)
        edited = await talk.edit(first, "I have fifty apples.")
        answer = await talk.say("How many apples do I have?")

        assert len(talk.sent) == before + 2
        everything = [text for index in range(before, len(talk.sent)) for text in talk.sent_texts(index)]
        assert [text for text in everything if "fifteen" in text] == []
        assert talk.sent_texts() == [
            "I have fifty apples.",
            *texts(edited.output_page),
            "How many apples do I have?",
        ]
        assert "fifty" in texts(answer.output_page)[0]
        assert "fifteen" not in "".join(await talk.context_texts())


async def test_only_the_chosen_reply_is_sent(migrated_url: str, transport: str) -> None:
    async with talking(transport, migrated_url, REPLIES) as talk:
        first = await talk.say("Tell me a story.")
        second = await talk.regenerate(first)
        assert [texts(floor.output_page) for floor in (first, second)] == [
            ["the first reply"],
            ["the second reply"],
        ]
        assert talk.sent_texts() == ["Tell me a story."]
        await talk.say("Go on.")
        assert talk.sent_texts() == ["Tell me a story.", "the second reply", "Go on."]

        await talk.select(first)
        await talk.say("Go on.")
        assert talk.sent_texts() == ["Tell me a story.", "the first reply", "Go on."]


async def test_after_a_rollback_exactly_the_six_turns_of_the_path_are_sent(
    migrated_url: str, transport: str
) -> None:
    async with talking(transport, migrated_url) as talk:
        turns = [await talk.say(f"turn {number}") for number in range(1, 11)]
        assert len(talk.sent_texts()) == 19
        await talk.roll_back(turns[1])
        anew = [await talk.say(f"new turn {number}") for number in range(1, 5)]

        path = [*turns[:2], *anew]
        replies = [texts(floor.output_page)[0] for floor in path]
        asked = ["turn 1", "turn 2", "new turn 1", "new turn 2", "new turn 3", "new turn 4"]
        spoken = [text for pair in zip(asked, replies, strict=True) for text in pair]
        assert talk.sent_texts() == spoken[:-1]
        assert await talk.context_texts() == spoken
        listed = [f"{number}. {text}" for number, text in enumerate(asked, 1)]
        assert replies[-1].split("\n")[-7:] == ["User messages I was sent: 6", *listed]


async def test_abandoned_turns_cost_nothing_and_the_tax_is_told(migrated_url: str, transport: str) -> None:
    async with talking(transport, migrated_url) as talk:
        twin = await another_session(talk)
        kept = [await talk.append(f"turn {number}", f"reply {number}") for number in range(4)]
        for number in range(4):
            await twin.append(f"turn {number}", f"reply {number}")
        before, sent_before = await talk.context(), await talk.context_bytes()
        assert before.explanation.tokens_abandoned == 0

        await _abandon_200_turns(talk, kept)

        after = await talk.context()
        assert await talk.context_bytes() == sent_before == await twin.context_bytes()
        assert after.explanation.context_digest == (await twin.context()).explanation.context_digest
        assert after.explanation.tokens_abandoned == await _off_the_path(talk, kept)
        assert after.explanation.tokens_abandoned > 200
        assert _without_tax(after) == _without_tax(before)


async def _abandon_200_turns(talk: Talk, kept: list) -> None:
    """By every way there is: rolled back, edited away, regenerated, given up before the commit."""
    session = {"session_id": talk.session_id}
    for number in range(50):
        await talk.append(f"rolled back {number}", "x" * number)
    await talk.roll_back(kept[-1])
    for number in range(50):
        edit = {"input": [user(f"edited {number}")], "output": [assistant("y")]}
        await talk.client.call("EditFloor", floor_id=kept[number % 4].floor_id, **edit)
    for number in range(50):
        again = {"output": [assistant(f"regenerated {number}")]}
        await talk.client.call("RegenerateFloor", floor_id=kept[number % 4].floor_id, **again)
    await talk.select(kept[-1])
    for number in range(50):
        floor = (await talk.client.call("OpenFloor", input=[user(f"given up {number}")], **session)).floor
        await talk.client.call("AbandonFloor", floor_id=floor.floor_id)


async def _off_the_path(talk: Talk, kept: list) -> int:
    """Tokens of the pages that only floors off the path show, each page once."""
    shown, token = {}, ""
    while True:
        answer = await talk.client.call("GetTree", session_id=talk.session_id, page_token=token)
        for floor in answer.floors:
            shown |= {page.page_id: page.token_count for page in (floor.input_page, floor.output_page)}
        token = answer.next_page_token
        if not token:
            break
    on_path = {page.page_id for floor in kept for page in (floor.input_page, floor.output_page)}
    return sum(count for page_id, count in shown.items() if page_id not in on_path)


def _without_tax(answer: context_service_pb2.AssembleContextResponse) -> bytes:
    copy = context_service_pb2.AssembleContextResponse()
    copy.CopyFrom(answer)
    copy.explanation.tokens_abandoned = 0
    return copy.SerializeToString(deterministic=True)
