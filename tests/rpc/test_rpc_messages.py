"""Lists of messages: what a client may send, and the path of what it may not."""

import pytest
from stemma.kernel.v1 import message_pb2

from kernel.errors import Invalid
from kernel.rpc.messages import check_messages

MIB = 1024 * 1024
USER = message_pb2.ROLE_USER


def message(*parts: message_pb2.Part, **fields: object) -> message_pb2.Message:
    return message_pb2.Message(**{"role": USER, "parts": parts or (text("hi"),), **fields})


def text(value: str) -> message_pb2.Part:
    return message_pb2.Part(text=message_pb2.TextPart(text=value))


def file(**fields: object) -> message_pb2.Part:
    return message_pb2.Part(file=message_pb2.FilePart(**fields))


def call(**fields: object) -> message_pb2.Part:
    return message_pb2.Part(tool_call=message_pb2.ToolCallPart(**fields))


def result(**fields: object) -> message_pb2.Part:
    return message_pb2.Part(tool_result=message_pb2.ToolResultPart(**fields))


def reasoning(**fields: object) -> message_pb2.Part:
    return message_pb2.Part(reasoning=message_pb2.ReasoningPart(**fields))


def faults(*messages: message_pb2.Message) -> list[str]:
    with pytest.raises(Invalid) as caught:
        check_messages(messages, "input")
    return [violation.field for violation in caught.value.violations]


def test_what_passes() -> None:
    check_messages([], "input")
    check_messages(
        [
            message(text(""), text("a\n\tb")),
            message(role=message_pb2.ROLE_SYSTEM, hidden=True, name="n" * 256),
            message(file(uri="s3://a/b", media_type="image/png", name="b.png")),
            message(file(data=b"", media_type="text/plain")),
            message(call(call_id="1", name="f"), call(call_id="2", name="g", arguments_json='{"a": 1}')),
            message(result(call_id="1", content="", is_error=True), role=message_pb2.ROLE_TOOL),
            message(reasoning(text="", signature="s")),
            message(metadata={"k" * 128: "v", **{str(n): "" for n in range(63)}}),
        ],
        "input",
    )


def test_a_list_may_be_required() -> None:
    with pytest.raises(Invalid, match="input: is required"):
        check_messages([], "input", required=True)


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (message(role=0), "input[1].role"),
        (message_pb2.Message(role=USER), "input[1].parts"),
        (message(message_pb2.Part()), "input[1].parts[0]"),
        (message(text("a"), message_pb2.Part()), "input[1].parts[1]"),
        (message(name="n" * 257), "input[1].name"),
        (message(file(media_type="a/b")), "input[1].parts[0].file"),
        (message(file(uri="", media_type="a/b")), "input[1].parts[0].file.uri"),
        (message(file(uri="u")), "input[1].parts[0].file.media_type"),
        (message(call(name="f")), "input[1].parts[0].tool_call.call_id"),
        (message(call(call_id="1")), "input[1].parts[0].tool_call.name"),
        (message(result(content="a")), "input[1].parts[0].tool_result.call_id"),
        (message(metadata={str(n): "" for n in range(65)}), "input[1].metadata"),
        (message(metadata={"": "a"}), "input[1].metadata"),
        (message(metadata={"k" * 129: "a"}), "input[1].metadata"),
    ],
)
def test_what_is_refused(bad: message_pb2.Message, path: str) -> None:
    assert faults(message(), bad) == [path]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [("{", "not JSON"), ("[" * 33 + "]" * 33, "nested"), ('{"a":1,"a":1}', "twice"), ("1e999", "large")],
)
def test_bad_input_29_30_arguments_of_a_tool_call(arguments: str, why: str) -> None:
    bad = message(call(call_id="1", name="f", arguments_json=arguments))
    with pytest.raises(Invalid, match=rf"input\[0\].parts\[0\].tool_call.arguments_json: .*{why}"):
        check_messages([bad], "input")


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (message(text("a\0")), "parts[0].text.text"),
        (message(name="\0"), "name"),
        (message(file(uri="\0", media_type="a")), "parts[0].file.uri"),
        (message(file(uri="u", media_type="\0")), "parts[0].file.media_type"),
        (message(file(uri="u", media_type="a", name="\0")), "parts[0].file.name"),
        (message(call(call_id="\0", name="f")), "parts[0].tool_call.call_id"),
        (message(call(call_id="1", name="\0")), "parts[0].tool_call.name"),
        (
            message(call(call_id="1", name="f", arguments_json='"\\u0000"')),
            "parts[0].tool_call.arguments_json",
        ),
        (message(result(call_id="\0")), "parts[0].tool_result.call_id"),
        (message(result(call_id="1", content="\0")), "parts[0].tool_result.content"),
        (message(reasoning(text="\0")), "parts[0].reasoning.text"),
        (message(reasoning(signature="\0")), "parts[0].reasoning.signature"),
        (message(metadata={"\0": "a"}), "metadata"),
        (message(metadata={"a": "\0"}), "metadata"),
    ],
)
def test_bad_input_32_nul_anywhere(bad: message_pb2.Message, path: str) -> None:
    assert faults(bad) == [f"input[0].{path}"]


def test_bad_input_41_unknown_role() -> None:
    assert faults(message(role=99)) == ["input[0].role"]


def sized(size: int) -> message_pb2.Message:
    """A message of exactly `size` bytes as serialised."""
    made = message(text("x" * (size - 20)))
    made.parts[0].text.text += "x" * (size - made.ByteSize())
    assert made.ByteSize() == size
    return made


def test_bad_input_7_a_message_over_1_mib() -> None:
    check_messages([sized(MIB)], "input")
    assert faults(sized(MIB + 1)) == ["input[0]"]


def test_bad_input_7_a_list_over_3_mib() -> None:
    check_messages([sized(MIB)] * 3, "input")
    assert faults(*[sized(MIB)] * 3, message()) == ["input"]


def test_bad_input_7_more_than_1000_messages() -> None:
    check_messages([message()] * 1_000, "input")
    assert faults(*[message()] * 1_001) == ["input"]


def test_bad_input_43_output_only_fields_are_not_looked_at() -> None:
    check_messages(
        [message(message_id="\0", parent_message_id="x" * 10_000, token_count=-5)],
        "input",
    )


def test_only_the_first_violations_are_named() -> None:
    assert faults(*[message(role=0)] * 1_000) == [f"input[{n}].role" for n in range(20)]
