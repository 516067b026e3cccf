"""Stored bytes: what goes in, what is dropped, and that equal content has equal bytes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stemma.kernel.v1 import message_pb2 as pb

from kernel.errors import DataLoss
from kernel.prompt.tokens import FILE_TOKENS
from kernel.tree.blob import frame, split
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import MessageFacts, PageContent, Role
from kernel.wire.codec import WireCodec, page_content, parsed

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
NAMES = st.text(st.sampled_from("abAé日"), max_size=4)


def say(text: str, role: int = 2, **fields: object) -> pb.Message:
    return pb.Message(role=role, parts=[{"text": {"text": text}}], **fields)


def stored(*messages: pb.Message) -> PageContent:
    found = page_content(messages)
    assert found is not None
    return found


def with_metadata(*entries: tuple[str, str]) -> pb.Message:
    message = say("m")
    for key, value in entries:
        message.metadata[key] = value
    return message


PARTS = st.one_of(
    st.builds(Text, TEXT),
    st.builds(File, TEXT, TEXT.filter(bool), st.just(b""), TEXT),
    st.builds(File, TEXT, st.just(""), st.binary(min_size=1, max_size=5), TEXT),
    st.builds(ToolCall, TEXT, TEXT, TEXT),
    st.builds(ToolResult, TEXT, TEXT, st.booleans()),
    st.builds(Reasoning, TEXT, TEXT),
)
MESSAGES = st.builds(
    Message,
    st.sampled_from(Role),
    st.lists(PARTS, min_size=1, max_size=3).map(tuple),
    TEXT,
    st.booleans(),
    st.dictionaries(NAMES, TEXT, max_size=4),
)


def part_pb(part: Part) -> pb.Part:
    match part:
        case Text(text):
            return pb.Part(text={"text": text})
        case File(media_type, uri, data, name):
            source = {"data": data} if data else {"uri": uri}
            return pb.Part(file={"media_type": media_type, "name": name, **source})
        case ToolCall(call_id, name, arguments):
            return pb.Part(tool_call={"call_id": call_id, "name": name, "arguments_json": arguments})
        case ToolResult(call_id, text, is_error):
            return pb.Part(tool_result={"call_id": call_id, "content": text, "is_error": is_error})
        case Reasoning(text, signature):
            return pb.Part(reasoning={"text": text, "signature": signature})


def message_pb(message: Message) -> pb.Message:
    return pb.Message(
        role=int(message.role),
        parts=[part_pb(part) for part in message.parts],
        name=message.name,
        hidden=message.hidden,
        metadata=message.metadata,
    )


def test_ids_and_counts_are_dropped() -> None:
    sent = say("hi", message_id="p.0", parent_message_id="p.1", token_count=9)
    assert stored(sent) == stored(say("hi"))
    assert sent.message_id == "p.0", "the caller's message is not touched"


def test_fields_of_a_newer_client_are_dropped() -> None:
    """In the message itself and inside its parts."""
    unknown = b"\xba\x3e\x03new"
    later = pb.Message.FromString(b"\x18\x02\x2a\x0a" + b"\x0a\x02\x0a\x00" + unknown + unknown)
    assert unknown in later.SerializeToString()
    assert stored(later) == stored(say(""))


@given(st.lists(st.tuples(NAMES, TEXT), max_size=6, unique_by=lambda entry: entry[0]))
@example([("a", "1"), ("aa", "2"), ("aaa", "3"), ("", "4"), ("b", "5")])
def test_metadata_is_stored_in_the_order_of_its_keys(entries: list[tuple[str, str]]) -> None:
    """A promise of our own: the library's deterministic order puts `aa` before `a` and `b` before ``."""
    (whole,) = split(stored(with_metadata(*entries)).blob)
    ordered = sorted(entries, key=lambda entry: entry[0].encode())
    in_order = [pb.Message(metadata={key: value}).SerializeToString() for key, value in ordered]
    assert whole == frame(say("m").SerializeToString() + b"".join(in_order))


@given(st.lists(MESSAGES, min_size=1, max_size=4))
def test_messages_come_back_as_they_were(messages: list[Message]) -> None:
    content = stored(*[message_pb(message) for message in messages])
    assert WireCodec().messages(content.blob) == tuple(messages)
    assert [(fact.role, fact.hidden) for fact in content.facts] == [(m.role, m.hidden) for m in messages]
    # Storing what was stored changes nothing, so bytes may be copied for ever.
    assert page_content(parsed(content.blob)) == content
    assert len(split(content.blob)) == len(messages)


def test_nothing_is_no_page() -> None:
    assert page_content([]) is None


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"text": {"text": ""}}, 1),
        ({"text": {"text": "x" * 41}}, 11),
        ({"reasoning": {"text": "x" * 8, "signature": "y" * 100}}, 2),
        ({"tool_call": {"call_id": "c" * 50, "name": "abcd", "arguments_json": "{}"}}, 2),
        ({"tool_result": {"call_id": "c", "content": "x" * 9}}, 3),
        ({"file": {"uri": "u", "media_type": "image/png"}}, FILE_TOKENS),
    ],
)
def test_tokens_are_estimated_for_each_part(part: dict[str, object], tokens: int) -> None:
    message = pb.Message(role=3, parts=[part])
    plain = "tool_call" not in part and "tool_result" not in part
    assert stored(message).facts == (MessageFacts(Role.ASSISTANT, False, tokens, plain),)
    twice = pb.Message(role=3, parts=[part, part])
    assert stored(twice).tokens == max(1, 2 * tokens if part != {"text": {"text": ""}} else 1)


def test_text_of_a_run_is_one_message() -> None:
    codec = WireCodec()
    assert codec.text(Role.ASSISTANT, "hi") == stored(say("hi", 3))
    assert codec.messages(codec.text(Role.ASSISTANT, "hi", "hm").blob)[0].parts == (
        Reasoning("hm"),
        Text("hi"),
    )
    assert codec.messages(codec.text(Role.ASSISTANT, "", "hm").blob)[0].parts == (Reasoning("hm"),)
    assert codec.messages(codec.text(Role.SYSTEM, "").blob)[0].parts == (Text(""),)


@pytest.mark.parametrize("blob", [b"\x0a\x05a", b"\x0a\x02\x18", b"\xff", b"\x0a\x04\x2a\x02\x0a\x05"])
def test_bytes_that_are_no_messages_are_data_loss(blob: bytes) -> None:
    for read in (parsed, WireCodec().messages):
        with pytest.raises(DataLoss) as caught:
            read(blob)
        assert caught.value.reason == "DIGEST_MISMATCH"
        assert caught.value.__cause__ is None
