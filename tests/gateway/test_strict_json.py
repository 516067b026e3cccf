"""JSON text: what is refused before json.loads, by it and after it."""

import json
import time

import pytest

from gateway.errors import Refusal
from gateway.strict_json import parse_object


def refused(body: bytes) -> str:
    with pytest.raises(Refusal) as caught:
        parse_object(body)
    assert caught.value.http == 400
    return str(caught.value.status.message)


def nested(depth: int) -> bytes:
    """An object of this depth, itself included."""
    return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_an_object_is_read_as_json_reads_it() -> None:
    text = '{"a": [1, -2.5e3, true, null, "x\\n\\u00e9\\ud83d\\ude00 [{\\"}"], "b": {}}'
    assert parse_object(text.encode()) == json.loads(text)
    assert parse_object(b"") == {}


@pytest.mark.parametrize("body", [b"null", b"[]", b"1", b'"x"', b"true", b"[{}]"])
def test_bad_input_58_null_and_array_bodies(body: bytes) -> None:
    assert refused(body) == "The body must be a JSON object."


@pytest.mark.parametrize(
    "body", [b"{", b'{"a"}', b"{'a': 1}", b'{"a": 1,}', b"{} {}", b"\xef\xbb\xbf{}", b'{"a": "\n"}']
)
def test_what_is_not_json_is_told_its_place_only(body: bytes) -> None:
    assert refused(body).startswith("The body is not JSON, at character ")


def test_bytes_that_are_not_utf8() -> None:
    assert "UTF-8" in refused(b'{"a": "\xff"}')
    assert "UTF-8" in refused('{"a": "é"}'.encode("utf-16"))


def test_bad_input_29_depth_33() -> None:
    assert len(parse_object(nested(32))) == 1
    assert "deeper than 32" in refused(nested(33))


def test_bad_input_29_brackets_in_strings_have_no_depth() -> None:
    text = "[" * 100 + '\\"' + "{" * 100
    assert parse_object(b'{"a": "' + text.encode() + b'"}') == {"a": text.replace('\\"', '"')}


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, nested(100_000)])
def test_bad_input_29_a_hundred_thousand_brackets(body: bytes) -> None:
    assert "deeper than 32" in refused(body)


def test_bad_input_29_six_mebibytes_of_unclosed_strings_take_no_quadratic_time() -> None:
    started = time.process_time()
    refused(b'{"a": "' + b'\\"' * (3 * 1024 * 1024))
    assert time.process_time() - started < 5  # it takes a fraction of a second; n² would take hours


def test_bad_input_30_duplicate_keys() -> None:
    assert "same key twice" in refused(b'{"a": 1, "a": 1}')
    assert "same key twice" in refused(b'{"x": [{"a": 1, "\\u0061": 2}]}')


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_bad_input_30_what_is_no_number(text: str) -> None:
    assert "which JSON does not know" in refused(f'{{"a": {text}}}'.encode())


@pytest.mark.parametrize("text", ["1e999", "-1e999", "1" * 5000, "-" + "1" * 5000, "1." + "0" * 9 + "e400"])
def test_bad_input_30_numbers_without_a_value(text: str) -> None:
    told = refused(f'{{"a": {text}}}'.encode())
    assert "too large" in told or "longer than 1000 characters" in told


@pytest.mark.parametrize("key", ["\\u0000", "\\ud800", "a\\udfff"])
def test_bad_input_32_keys(key: str) -> None:
    assert "NUL or half a surrogate pair" in refused(f'{{"{key}": 1}}'.encode())
