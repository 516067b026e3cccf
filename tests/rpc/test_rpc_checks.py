"""Checks of single fields: what passes, what it becomes, and what is refused."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stemma.conversation.v1 import session_service_pb2
from stemma.kernel.v1 import message_pb2

from kernel.errors import Invalid
from kernel.rpc import checks

ID = "0193a1b2-0000-7000-8000-00000000000a"
ZERO = "00000000-0000-0000-0000-000000000000"


def refused(check: Callable[[], object]) -> str:
    """The field that a check refuses."""
    with pytest.raises(Invalid) as caught:
        check()
    (violation,) = caught.value.violations
    return violation.field


def test_an_id_is_given_in_lower_case() -> None:
    assert checks.uuid_field(ID.upper(), "floor_id") == ID
    assert checks.uuid_field(ZERO, "floor_id") == ZERO


def test_an_optional_id_may_be_empty_and_words_may_stand_for_one() -> None:
    assert checks.uuid_field("", "page_id", required=False) == ""
    assert checks.uuid_field("default", "project_id", also=("default",)) == "default"
    assert refused(lambda: checks.uuid_field("", "project_id", also=("", "default"))) == "project_id"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a" * 1_025,
        "a/b",
        "..",
        "a\0b",
        "\n",
        "%2e",
        "\u200f",
        ID + "\n",
        "\u200f" + ID,
        ID.replace("-", ""),
        "{" + ID + "}",
        "urn:uuid:" + ID,
        ID.replace("a", "ａ"),
        ID.replace("1", "١"),
        " " + ID,
    ],
)
def test_bad_input_18_malformed_id(value: str) -> None:
    assert refused(lambda: checks.uuid_field(value, "floor_id")) == "floor_id"
    if value:
        assert refused(lambda: checks.uuid_field(value, "floor_id", required=False)) == "floor_id"


@pytest.mark.parametrize("value", [ZERO, "no-uuid", "a" * 300])
def test_bad_input_20_request_id(value: str) -> None:
    assert refused(lambda: checks.request_id(value)) == "request_id"


def test_bad_input_21_request_id_is_required() -> None:
    assert refused(lambda: checks.request_id("")) == "request_id"
    assert checks.request_id(ID.upper()) == ID


@pytest.mark.parametrize("value", ["a", "0", "feature.x_1-b", "A" * 64])
def test_branch_names(value: str) -> None:
    assert checks.branch_name(value) == value


@pytest.mark.parametrize("value", [".a", "-a", "_a", "a/b", "a b", "ä", "a" * 65, "a\n", "a:b", "a\0"])
def test_bad_branch_names(value: str) -> None:
    assert refused(lambda: checks.branch_name(value)) == "branch"


def test_an_empty_branch_is_the_default_where_there_is_one() -> None:
    assert checks.branch_name("") == "main"
    assert refused(lambda: checks.branch_name("", "", "name")) == "name"


def test_text() -> None:
    assert checks.text_field("ü" * 10, "title", maximum=10) == "ü" * 10
    assert checks.text_field("", "title", maximum=10) == ""
    assert refused(lambda: checks.text_field("ü" * 11, "title", maximum=10)) == "title"
    assert refused(lambda: checks.text_field("", "title", maximum=10, required=True)) == "title"


def test_bad_input_32_nul_in_text() -> None:
    assert refused(lambda: checks.text_field("a\0b", "title", maximum=10)) == "title"


def test_reason() -> None:
    assert checks.reason("") == ""
    assert checks.reason("x" * 500, required=True) == "x" * 500
    assert refused(lambda: checks.reason("", required=True)) == "reason"
    assert refused(lambda: checks.reason("x" * 501)) == "reason"


def test_bad_input_35_page_size() -> None:
    assert refused(lambda: checks.page_size(-1)) == "page_size"
    assert checks.page_size(2**31 - 1) == 1_000
    assert checks.page_size(0) == 100
    assert checks.page_size(1) == 1


def test_bad_input_41_unknown_enum_number() -> None:
    assert refused(lambda: checks.enum_field(99, message_pb2.Slot, "slot")) == "slot"
    assert refused(lambda: checks.enum_field(-1, message_pb2.Slot, "slot", 1)) == "slot"
    assert refused(lambda: checks.enum_field(0, message_pb2.Slot, "slot")) == "slot"
    assert checks.enum_field(2, message_pb2.Slot, "slot") == 2
    assert checks.enum_field(0, message_pb2.Slot, "slot", 1) == 1


def test_an_enum_may_be_given_by_its_descriptor() -> None:
    descriptor = session_service_pb2.DESCRIPTOR.enum_types_by_name["SessionOrder"]
    assert checks.enum_field(1, descriptor, "order") == 1
    assert refused(lambda: checks.enum_field(3, descriptor, "order")) == "order"


def test_gather_names_every_field_at_fault_in_one_answer() -> None:
    def several() -> None:
        with checks.Gather() as check:
            check(checks.uuid_field, "x", "floor_id")
            assert check(checks.branch_name, "") == "main"
            check(checks.reason, "", required=True)

    with pytest.raises(Invalid) as caught:
        several()
    assert [violation.field for violation in caught.value.violations] == ["floor_id", "reason"]


def test_gather_hides_no_other_error() -> None:
    def fault() -> None:
        with checks.Gather() as check:
            check(checks.page_size, -1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fault()


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", '"a"', "1", "-0.5e10", ' {"a": [1, {"b": null}]} ', '"\\ud83d\\ude00"', '"[[[["'],
)
def test_json_passes_and_stays_as_it_is(text: str) -> None:
    assert checks.json_text(text, "value_json") == text


def test_json_may_be_optional() -> None:
    assert checks.json_text("", "value_json", required=False) == ""
    assert refused(lambda: checks.json_text("", "value_json")) == "value_json"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_bad_input_29_depth(opening: str) -> None:
    closing = "]" if opening == "[" else "}"

    def nested(levels: int) -> str:
        return opening * levels + "1" + closing * levels

    assert checks.json_text(nested(32), "f") == nested(32)
    assert refused(lambda: checks.json_text(nested(33), "f")) == "f"
    assert refused(lambda: checks.json_text(opening * 100_000, "f")) == "f"


def test_bad_input_29_what_stands_side_by_side_is_not_deep() -> None:
    text = "[" + '[{}],{"a":[]},' * 100 + "1]"
    assert checks.json_text(text, "f") == text


def test_bad_input_29_brackets_in_texts_do_not_count() -> None:
    text = '["' + "[" * 1_000 + '\\"' + "{" * 1_000 + '"]'
    assert checks.json_text(text, "f") == text


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '[{"b": {"a": 1, "\\u0061": 2}}]',
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e999",
        "[-1e999]",
        "9" * 5_000,
        "0." + "9" * 5_000,
    ],
)
def test_bad_input_30_json_that_readers_disagree_on(text: str) -> None:
    assert refused(lambda: checks.json_text(text, "f")) == "f"


@pytest.mark.parametrize("number", [2**53 + 1, 10**100, -(2**63)])
def test_bad_input_31_large_integers_stay_as_they_are(number: int) -> None:
    assert checks.json_text(f'{{"n": {number}}}', "f") == f'{{"n": {number}}}'


@pytest.mark.parametrize(
    "text",
    ['"\\u0000"', '{"\\u0000": 1}', '["\\ud800"]', '{"a\\udc00": 1}', '"a\0b"', "\0", '{"a": "\\ud800x"}'],
)
def test_bad_input_32_nul_and_half_surrogates_in_json(text: str) -> None:
    assert refused(lambda: checks.json_text(text, "f")) == "f"


@pytest.mark.parametrize(
    "text", ["{", "]", "[1,]", "{'a': 1}", "\ufeff{}", "1 2", '"\n"', "01", "+1", "tru", '"a', '"a\\', " "]
)
def test_what_is_not_json(text: str) -> None:
    assert refused(lambda: checks.json_text(text, "f")) == "f"


@given(st.text(alphabet='"\\[]{}a:,1 ', max_size=200))
def test_any_text_is_json_or_invalid(text: str) -> None:
    try:
        json.loads(text)
        standard = True
    except (ValueError, RecursionError):
        standard = False
    accepted = True
    try:
        assert checks.json_text(text, "f") == text
    except Invalid:
        accepted = False
    # Stricter than the standard library, never laxer.
    assert standard or not accepted


def test_no_text_takes_quadratic_time() -> None:
    """Each of these would take minutes if every quotation mark began a search of its own."""
    for text in ('"' + '\\"' * 1_000_000, '"' + '\\"' * 1_000_000 + "\\", '"' * 2_000_001):
        assert refused(lambda text=text: checks.json_text(text, "f")) == "f"
