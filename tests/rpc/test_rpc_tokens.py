"""Page tokens open for the query that they continue, and for nothing else."""

import base64
import os
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import Invalid
from kernel.rpc.tokens import PageTokens

OLD, NEW, OTHER = b"o" * 32, b"n" * 32, b"x" * 32
QUERY: dict[str, Any] = {"tenant": "t1", "method": "ListSessions", "filters": {"state": 1, "project": "p"}}
LAST = ["2026-01-01T00:00:00Z", 7, None]
tokens = PageTokens([NEW, OLD])
token = tokens.seal(**QUERY, last=LAST)


def refused(text: str, opener: PageTokens = tokens, **query: Any) -> bool:
    with pytest.raises(Invalid) as caught:
        opener.open(text, **{**QUERY, **query})
    return [violation.field for violation in caught.value.violations] == ["page_token"]


def test_a_token_opens_for_its_query() -> None:
    assert tokens.open(token, **QUERY) == LAST
    assert tokens.open(token, "t1", "ListSessions", {"project": "p", "state": 1}) == LAST
    assert re.fullmatch(r"[A-Za-z0-9_-]+", token)


def test_the_first_key_seals_and_all_open() -> None:
    assert PageTokens([OLD, NEW]).open(token, **QUERY) == LAST
    assert PageTokens([NEW]).open(token, **QUERY) == LAST
    assert refused(token, PageTokens([OLD]))
    assert refused(token, PageTokens([OTHER]))


@pytest.mark.parametrize("keys", [[], [b"short"], [NEW, b"short"]])
def test_keys_are_needed(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        PageTokens(keys)


@pytest.mark.parametrize("text", ["", "a", "page2", "é", "%00", "\0", token + "=", token + " ", token * 100])
def test_bad_input_36_not_a_token(text: str) -> None:
    assert refused(text)


def test_bad_input_36_random() -> None:
    for size in (1, 31, 32, 33, 100):
        assert refused(base64.urlsafe_b64encode(os.urandom(size)).decode())


def test_bad_input_36_truncated_anywhere() -> None:
    for length in range(len(token)):
        assert refused(token[:length])


def test_bad_input_36_tampered_anywhere() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for index, character in enumerate(token):
        for other in alphabet:
            if other != character:
                assert refused(token[:index] + other + token[index + 1 :])


@pytest.mark.parametrize(
    "query",
    [
        {"tenant": "t2"},
        {"method": "ListPath"},
        {"filters": {"state": 2, "project": "p"}},
        {"filters": {"state": 1}},
        {"filters": {"state": 1, "project": "p", "more": ""}},
    ],
)
def test_bad_input_36_of_another_tenant_or_query(query: dict[str, Any]) -> None:
    assert refused(token, **query)


@given(st.text(), st.text(), st.text(), st.text())
def test_parts_cannot_be_shifted_against_each_other(a: str, b: str, c: str, d: str) -> None:
    sealed = tokens.seal(a, b, {}, "x")
    if (a, b) == (c, d):
        assert tokens.open(sealed, c, d, {}) == "x"
    else:
        with pytest.raises(Invalid):
            tokens.open(sealed, c, d, {})


def test_a_last_key_that_is_too_long_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="too long"):
        tokens.seal(**QUERY, last="x" * 2_000)
