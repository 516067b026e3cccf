"""Equal requests have equal fingerprints, however they were encoded."""

import pytest
from stemma.conversation.v1 import floor_service_pb2
from stemma.kernel.v1 import message_pb2

from kernel.rpc.fingerprint import fingerprint


def request(**fields: object) -> floor_service_pb2.AppendFloorRequest:
    message = message_pb2.Message(
        role=message_pb2.ROLE_USER,
        parts=[message_pb2.Part(text=message_pb2.TextPart(text="hi"))],
        metadata={"a": "1", "b": "2", "c": "3"},
    )
    return floor_service_pb2.AppendFloorRequest(**{"session_id": "s", "input": [message], **fields})


def test_the_request_id_does_not_count() -> None:
    assert fingerprint(request(request_id="a")) == fingerprint(request(request_id="b"))
    assert len(fingerprint(request())) == 32


def test_the_request_is_left_as_it_is() -> None:
    given = request(request_id="a")
    given.MergeFromString(b"\xc2\x3e\x01a")
    before = given.SerializeToString(deterministic=True)
    fingerprint(given)
    assert given.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("extra", [b"\xc2\x3e\x01a", b"\x32\x05\xc2\x3e\x02aa"])
def test_unknown_fields_do_not_count(extra: bytes) -> None:
    plain, more = request(), request()
    if extra[0] == 0x32:  # within a message of `input`
        plain.input.add()
    more.MergeFromString(extra)
    assert fingerprint(plain) == fingerprint(more)


def test_the_order_of_fields_and_of_map_entries_does_not_count() -> None:
    given = request()
    del given.input[0].metadata["a"]
    given.input[0].metadata["a"] = "1"
    assert fingerprint(given) == fingerprint(request())
    raw = given.SerializeToString()
    reordered = floor_service_pb2.AppendFloorRequest.FromString(raw[3:] + raw[:3])
    assert raw[:3] == b"\x12\x01s"
    assert fingerprint(reordered) == fingerprint(request())


@pytest.mark.parametrize(
    "fields", [{"session_id": "t"}, {"branch": "b"}, {"on_pending": 2}, {"input": []}, {"expected_head": "h"}]
)
def test_everything_else_counts(fields: dict[str, object]) -> None:
    assert fingerprint(request(**fields)) != fingerprint(request())


def test_the_method_counts() -> None:
    empty = floor_service_pb2.OpenFloorRequest(), floor_service_pb2.AppendFloorRequest()
    assert fingerprint(empty[0]) != fingerprint(empty[1])
