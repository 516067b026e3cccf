"""JSON values against messages: one fault each, named by its path."""

from typing import Any

import pytest
from google.protobuf import duration_pb2, field_mask_pb2, timestamp_pb2
from stemma.conversation.v1.floor_service_pb2 import AppendFloorRequest
from stemma.conversation.v1.run_service_pb2 import RespondRequest
from stemma.conversation.v1.session_service_pb2 import CreateSessionRequest, ListSessionsRequest
from stemma.kernel.v1.config_pb2 import Config
from stemma.kernel.v1.message_pb2 import Message

from gateway.checks import check_message


def faults(kind: Any, value: Any) -> dict[str, str]:
    return {one.field: one.description for one in check_message(kind.DESCRIPTOR, value)}


def test_a_whole_request_has_no_fault() -> None:
    message = {
        "role": "ROLE_USER",
        "parts": [{"text": {"text": "hi"}}, {"file": {"data": "aGk=", "mediaType": "text/plain"}}],
        "metadata": {"a": "b"},
        "hidden": False,
    }
    request = {
        "requestId": "r",
        "session_id": "s",
        "onPending": 2,
        "input": [message],
        "usage": {"tokensIn": "12", "tokensOut": 3},
        "effects": None,
    }
    assert faults(AppendFloorRequest, request) == {}


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_a_message_is_an_object(value: Any) -> None:
    assert faults(AppendFloorRequest, value) == {"body": "must be an object"}
    if value is not None:
        assert faults(CreateSessionRequest, {"config": value}) == {"config": "must be an object"}


def test_null_is_absence_only_where_a_field_can_be_absent() -> None:
    assert faults(CreateSessionRequest, {"config": None}) == {}
    assert faults(RespondRequest, {"edit": None, "resume": {}}) == {}
    assert faults(Config, {"systemPrompt": None}) == {}
    assert faults(CreateSessionRequest, {"title": None}) == {"title": "must not be null"}
    assert faults(AppendFloorRequest, {"input": None}) == {"input": "must not be null"}
    assert faults(AppendFloorRequest, {"input": [None]}) == {"input[0]": "must be an object"}
    assert faults(Message, {"metadata": {"a": None}}) == {"metadata[a]": "must be a string"}
    assert faults(Config, {"model": {"stop": [None]}}) == {"model.stop[0]": "must be a string"}


def test_both_spellings_of_one_field() -> None:
    assert (
        "both spellings" in faults(CreateSessionRequest, {"requestId": "a", "request_id": "a"})["request_id"]
    )


def test_two_members_of_a_oneof() -> None:
    found = faults(RespondRequest, {"resume": {}, "regenerate": {}})
    assert found == {"regenerate": "only one of input, edit, regenerate, resume may be given"}
    part = {"text": {"text": "a"}, "reasoning": {"text": "b"}}
    assert list(faults(Message, {"parts": [part]})) == ["parts[0].reasoning"]


def test_unknown_fields_and_other_cases() -> None:
    assert faults(CreateSessionRequest, {"Title": "x"}) == {"Title": "there is no such field"}
    found = faults(AppendFloorRequest, {"input": [{"parts": [{"text": {"text": "x", "extra": 1}}]}]})
    assert found == {"input[0].parts[0].text.extra": "there is no such field"}
    assert list(faults(CreateSessionRequest, {"x" * 10_000: 1})) == ["x" * 64]


def test_no_more_than_twenty_faults_are_told() -> None:
    assert len(check_message(AppendFloorRequest.DESCRIPTOR, {"input": [1] * 1000})) == 20
    assert len(check_message(CreateSessionRequest.DESCRIPTOR, {f"x{one}": 1 for one in range(1000)})) == 20


@pytest.mark.parametrize("value", [1, True, [], {}, 1.5])
def test_strings_are_strings(value: Any) -> None:
    assert faults(CreateSessionRequest, {"title": value}) == {"title": "must be a string"}


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_bools_are_true_or_false(value: Any) -> None:
    assert faults(RespondRequest, {"hold": value}) == {"hold": "must be true or false"}


@pytest.mark.parametrize("value", [True, 1.0, 1.5, "", "1.0", "+1", " 1", "01", "-0", "1e3", "١", "0x1", []])
def test_integers_are_integers(value: Any) -> None:
    assert faults(ListSessionsRequest, {"pageSize": value}) == {"page_size": "must be an integer"}


def test_integers_are_in_range() -> None:
    for good in (0, -1, 2**31 - 1, -(2**31), "2147483647", "-2147483648"):
        assert faults(ListSessionsRequest, {"pageSize": good}) == {}
    for bad in (2**31, -(2**31) - 1, "2147483648"):
        assert faults(ListSessionsRequest, {"pageSize": bad})["page_size"].startswith("must be from")
    assert faults(Config, {"model": {"seed": str(2**63 - 1)}}) == {}
    assert list(faults(Config, {"model": {"seed": str(2**63)}})) == ["model.seed"]


@pytest.mark.parametrize("value", ["1", True, "NaN", 10**399, []])
def test_numbers_are_finite_numbers(value: Any) -> None:
    assert faults(Config, {"model": {"temperature": value}}) == {"model.temperature": "must be a number"}


@pytest.mark.parametrize("value", ["ROLE_NOBODY", "role_user", "1", "", 99, -1, 2**80, 1.0, True, [], {}])
def test_bad_input_41_unknown_enum_values(value: Any) -> None:
    assert faults(Message, {"role": value})["role"].startswith("must be one of ROLE_UNSPECIFIED, ROLE_SYSTEM")


@pytest.mark.parametrize("text", ["!", "a", "aGk=x", "aG k", "a=Gk", "aGk====", "aGk\n", "é"])
def test_bad_base64(text: str) -> None:
    part = {"file": {"data": text}}
    assert faults(Message, {"parts": [part]}) == {"parts[0].file.data": "must be base64"}


@pytest.mark.parametrize("text", ["", "aGk=", "aGk", "_-8=", "/+8="])
def test_base64_in_both_alphabets(text: str) -> None:
    assert faults(Message, {"parts": [{"file": {"data": text}}]}) == {}


@pytest.mark.parametrize("text", ["\x00", "a\ud800", "\udfff"])
def test_bad_input_32_text_that_no_field_can_hold(text: str) -> None:
    said = "must not hold NUL or a lone surrogate"
    assert faults(CreateSessionRequest, {"title": text}) == {"title": said}
    assert list(faults(Message, {"metadata": {"a": text}}).values()) == [said]
    assert list(faults(Message, {"metadata": {text: "a"}}).values()) == [said]


def test_well_known_types_are_strings_of_their_form() -> None:
    good = {
        timestamp_pb2.Timestamp: ["2026-01-31T12:00:00Z", "9999-12-31T23:59:59.999999999+01:00"],
        duration_pb2.Duration: ["3600s", "-1.5s", "0s"],
        field_mask_pb2.FieldMask: ["title", "title,config.model.topP"],
    }
    bad = {
        timestamp_pb2.Timestamp: ["", "2026-01-31", "10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", 1, {}],
        duration_pb2.Duration: ["", "1", "1_0s", "1m", "999999999999s", 1, {}],
        field_mask_pb2.FieldMask: ["", ",", "a,", "top_p", "a b", "a..b", "*", [], {}],
    }
    for kind, values in good.items():
        assert [faults(kind, one) for one in values] == [{}] * len(values)
    for kind, values in bad.items():
        assert [one for one in values if not faults(kind, one)] == []
