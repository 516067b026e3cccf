"""The whole story in every language, against everything that `stemma up` starts: one story, told alike."""

from dataclasses import replace

import pytest
from stemma.conversation.v1 import floor_service_pb2
from stemma_client import AsyncStemma

from tests.clients.languages.fake import over_grpc, over_http
from tests.clients.languages.stage import CHATS, STORIES, TOLD, Addresses, frayed, run

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("language", STORIES)
async def test_the_whole_story(addresses: Addresses, language: str) -> None:
    ended = await run(STORIES[language], addresses)
    assert (ended.status, ended.out) == (0, TOLD), ended.err


@pytest.mark.parametrize("language", STORIES)
async def test_the_same_story_in_a_bad_network(addresses: Addresses, language: str) -> None:
    async with frayed(addresses) as (behind, networks):
        ended = await run(STORIES[language], behind)
        used = ["http"] if language == "web" else ["conversation", "draft"]
        assert (ended.status, ended.out) == (0, TOLD), ended.err
        assert all(networks[name].left < networks[name].CUTS for name in used), "it was not that bad"


@pytest.mark.parametrize("language", STORIES)
async def test_without_a_key_there_is_no_story(addresses: Addresses, language: str) -> None:
    ended = await run(STORIES[language], replace(addresses, key=""))
    assert (ended.status, ended.out) == (1, "")
    assert "UNAUTHENTICATED" in ended.err


@pytest.mark.parametrize("language", CHATS)
async def test_a_chat_in_one_file(addresses: Addresses, language: str) -> None:
    ended = await run(CHATS[language], addresses, "hello\n\n/edit hi\n/again\n")
    assert ended.status == 0, ended.err
    first, *answers = ended.out.splitlines()
    assert [answer.split(" ")[0] for answer in answers] == ["word0"] * 3
    async with AsyncStemma(addresses.conversation, api_key=addresses.key) as stemma:
        session_id = first.removeprefix("session ")
        listed = await stemma.floors.ListPath(floor_service_pb2.ListPathRequest(session_id=session_id))
        (last,) = listed.floors
        assert last.input_page.messages[0].parts[0].text.text == "hi"
        request = floor_service_pb2.ListSiblingsRequest(floor_id=last.floor_id)
        assert len((await stemma.floors.ListSiblings(request)).floors) == 3


@pytest.mark.parametrize("language", STORIES)
async def test_a_busy_server_is_asked_again_with_the_same_request_id(language: str, made: None) -> None:
    async with over_http() if language == "web" else over_grpc() as fake:
        everywhere = Addresses(fake.address, fake.address, fake.address, "the-key")
        ended = await run(STORIES[language], everywhere)
    assert ended.status != 0
    assert "UNAUTHENTICATED" in ended.err
    assert len(fake.asked) == 2
    assert len({asked.request_id for asked in fake.asked}) == 1
    assert len(fake.asked[0].request_id) == 36
    assert [asked.key.lower() for asked in fake.asked] == ["bearer the-key"] * 2
    assert all(asked.seconds is None or asked.seconds <= 30 for asked in fake.asked)
