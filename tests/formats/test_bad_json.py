"""Bad inputs 29 to 32, in each format: the conversation is refused, the others are imported."""

import json
from collections.abc import Callable

import pytest

from conversation_service.domain.imports.model import BadConversation, Conversation, NativeConversation
from kernel.strict_json import MAX_DEPTH, NotJson, loads
from tests.formats.support import chatgpt_conversation, chatgpt_node, found
from tests.formats.test_stemma import data_of, lines

FAULTS = {
    "29 depth 33": "[" * 33 + "]" * 33,
    "29 depth 100,000": "[" * 100_000 + "]" * 100_000,
    "30 a key twice": '{"a":1,"a":1}',
    "30 NaN": "NaN",
    "30 -Infinity": "-Infinity",
    "30 1e999": "1e999",
    "30 5,000 digits": "9" * 5_000,
    "30 5,000 digits of a fraction": "0." + "9" * 5_000,
    "32 an escaped NUL": '"\\u0000"',
    "32 half a pair": '"\\ud800"',
    "32 the other half": '"\\uDC00 "',
    "32 half a pair in a key": '{"\\udfff":1}',
    "a raw NUL": '"\0"',
    "an open text": '"x',
    "an open bracket": "[",
    "a word": "nothing",
}


def oasst(extra: str) -> bytes:
    return (
        f'{{"prompt":{{"message_id":"a","text":"a","role":"prompter","replies":[]}},"x":{extra}}}\n'.encode()
    )


def chatgpt(extra: str) -> bytes:
    conversation = json.dumps(chatgpt_conversation(chatgpt_node("u1", "top"), current="u1"))
    return f'{conversation[:-1]},"x":{extra}}}'.encode()


def stemma(extra: str) -> bytes:
    first, *rest = data_of(lines()).splitlines(keepends=True)
    return first.rstrip()[:-1] + f',"x":{extra}}}\n'.encode() + b"".join(rest)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("make", [oasst, stemma])
def test_bad_input_29_30_32_in_a_line(make: Callable[[str], bytes], fault: str) -> None:
    first, middle, last = found(make.__name__, make("1") + make(fault) + make("2"))
    assert isinstance(first, Conversation | NativeConversation)
    assert isinstance(middle, BadConversation)
    assert middle.reason == "INVALID"
    assert isinstance(last, Conversation | NativeConversation)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_bad_input_29_30_32_in_an_array(fault: str) -> None:
    """What leaves brackets or a text open takes the rest of the array with it, and says so."""
    first, middle, *last = found(
        "chatgpt", b"[" + chatgpt("1") + b"," + chatgpt(fault) + b"," + chatgpt("2") + b"]"
    )
    assert isinstance(first, Conversation)
    assert isinstance(middle, BadConversation)
    assert middle.reason == "INVALID"
    swallowed = fault in ('"x', "[")
    assert all(isinstance(result, BadConversation if swallowed else Conversation) for result in last)
    assert last or swallowed


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_bad_input_29_30_32_in_a_log(fault: str) -> None:
    """A log is one conversation: without the line its tree would be another."""
    good = b'{"id":"1","role":"user","content":"x"}\n'
    (result,) = found("log-jsonl", good + f'{{"id":"2","x":{fault}}}\n'.encode() + good)
    assert isinstance(result, BadConversation)
    assert result.reason == "INVALID"
    assert "Line 2" in result.message


def test_bad_input_31_integers_are_exact() -> None:
    assert loads("[9007199254740993, 123456789012345678901234567890]") == [
        9007199254740993,
        123456789012345678901234567890,
    ]


def test_what_is_allowed_at_the_edges() -> None:
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(loads(deepest)) == deepest
    assert loads('"[[[[\\"' + "{" * 100 + '"') == '[[[["' + "{" * 100
    assert loads('"\\ud83d\\ude00"') == "😀"
    with pytest.raises(NotJson):
        loads(b'"\xed\xa0\x80"')
