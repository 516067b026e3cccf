"""Words as the search compares them: the same for both engines, and nothing but letters and digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.tree.words import snippet, words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("The Cat, the cat; THE CAT!", ["the", "cat"]),
        ("café CAFÉ cafe\u0301", ["cafe"]),
        ("straße STRASSE", ["strasse"]),
        ("it's a_b c-d e.f@g.h/i?j=k", ["it", "s", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]),
        ("(a+)+$ AND NOT NEAR/2 \"x\" 'y' * : ^", ["a", "and", "not", "near", "2", "x", "y"]),
        ("你好吗 カナ", ["你", "好", "吗", "カ", "ナ"]),
        ("ﬁne ½ ①", ["fine", "1", "12"]),
        ("🙂 -- \n\t", []),
        ("", []),
    ],
)
def test_words(text: str, cut: list[str]) -> None:
    assert sorted(words(text)) == sorted(cut)
    assert words(text)[:1] == cut[:1]


@given(st.text())
def test_a_word_is_letters_and_digits(text: str) -> None:
    """So no engine can take it for two, or for an operator."""
    found = words(text)
    assert len(set(found)) == len(found)
    for word in found:
        assert 0 < len(word) <= 64
        assert all(char.isalnum() for char in word)


@given(st.text(), st.text())
def test_a_text_has_the_words_of_its_pieces(left: str, right: str) -> None:
    assert set(words(f"{left} {right}")) == {*words(left), *words(right)}


def test_a_long_word_is_known_by_its_beginning() -> None:
    assert words("x" * 1_000) == words("x" * 999) == ["x" * 64]
    assert words("x" * 63) != words("x" * 64)


def test_of_an_enormous_text_the_beginning_is_found() -> None:
    """No more than a quarter of a MiB of words; a word that comes again takes no room."""
    many = words("again " * 100_000 + " ".join(f"word{n}" for n in range(100_000)))
    assert many[0] == "again"
    assert 250_000 < sum(len(word.encode()) for word in many) <= 256 * 1024
    assert len(many) < 100_000


def test_a_snippet_is_around_the_first_word_that_was_looked_for() -> None:
    text = "start " * 100 + "the Needle\nis here " + "end " * 100
    shown = snippet(text, ["needle"])
    assert "the Needle is here end" in shown
    assert len(shown) <= 200
    assert snippet("short  Needle", ["needle"]) == "short Needle"
    assert snippet("first words " * 50, ["absent"]).startswith("first words")
