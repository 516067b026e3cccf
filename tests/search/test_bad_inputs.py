"""Queries that mean something to a database or a pattern matcher, or are too much: they are words here."""

import pytest

from tests.projects.stage import Stage
from tests.search.finding import found
from tests.support.client import Refusal, user

# The bad input as it is typed, and words of which it consists.
PLAIN = {
    "(a+)+$": "a",
    "'; DROP TABLE floor; --": "drop table floor",
    "a' OR '1'='1": "a or 1",
    "a'||(select version())||'": "a select version",
    'words : "x"': "words x",
    "x OR y": "x or y",
    "x NOT y": "x not y",
    "NEAR(x y, 5)": "near x y 5",
    "^x*": "x",
    "x & !y | z <-> w": "x y z w",
    "x:*": "x",
    "search_message MATCH x": "search message match x",
    "__proto__": "proto",
    "constructor $ne": "constructor ne",
    '$.x"': "x",
    "\\": "",
    "%_": "",
    "\U0001f600": "",
    "\u202eabc": "abc",
    "*": "",
    '"': "",
}


async def test_bad_input_34_and_33_queries_are_plain_words(stage: Stage) -> None:
    """Each finds the message that has its words and only that one; without a word it is refused."""
    session_id = (await stage.session()).session_id
    told = {}
    for number, (query, plain) in enumerate(PLAIN.items()):
        if plain:
            text = f"{plain} mark{number}"
            answer = await stage.call("AppendFloor", session_id=session_id, input=[user(text)])
            told[query] = answer.floor.floor_id
    before = await stage.rows()
    for number, (query, plain) in enumerate(PLAIN.items()):
        if plain:
            assert await found(stage, f"{query} mark{number}") == [told[query]], query
            assert told[query] in await found(stage, query), query
            assert await found(stage, f"{query} absent") == [], query
        else:
            refusal = await stage.client.refused("SearchMessages", project_id="default", query=query)
            assert refusal.reason == "INVALID", query
    assert await stage.rows() == before


async def test_bad_input_34_too_many_terms_are_refused(stage: Stage) -> None:
    many = " ".join(f"term{n}" for n in range(10_000))
    for query in (many, "(a+)+$ " * 10_000):
        refusal = await stage.client.refused("SearchMessages", project_id="default", query=query)
        assert refusal == Refusal("INVALID_ARGUMENT", "INVALID", {})


async def test_bad_input_34_the_longest_query_is_answered(stage: Stage) -> None:
    """64 words, each of them in every message."""
    session_id = (await stage.session()).session_id
    words = " ".join(f"w{n}" for n in range(64))
    for _ in range(30):
        await stage.call("AppendFloor", session_id=session_id, input=[user(words)])
    assert len(await found(stage, f"{words} {words} {words}")) == 30
    assert await found(stage, f"{words} absent".removeprefix("w0 ")) == []


@pytest.mark.parametrize("size", [1_000, 250_000])
async def test_an_enormous_message_is_found_by_its_words(stage: Stage, size: int) -> None:
    """As many different words as a message of a MiB may have; each engine has limits of its own."""
    session_id = (await stage.session()).session_id
    text = " ".join(f"{n:x}" for n in range(size))[: 1024 * 1024 - 8_000]
    long = f"{'long' * 1_000} {text} end"
    floor = (await stage.call("AppendFloor", session_id=session_id, input=[user(long)])).floor
    assert await found(stage, "3e7 long" + "long" * 20) == [floor.floor_id]
