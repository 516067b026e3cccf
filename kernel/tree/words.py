"""Words of texts, as the search compares them, and the piece of a text that is shown around one. Pure.

Both engines are given words that were cut here, so that both find the same. There are no stems and no
stop words: which language a text is in is not known.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator

# Ideographs and kana stand without spaces: each is a word of its own.
_IDEOGRAPH = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+")
# A longer word is known by its beginning.
_LONGEST = 64
# Bytes of different words of one text that are kept; the rest of an enormous text is not found.
_MOST = 256 * 1024
_SNIPPET = 200


def words(text: str) -> list[str]:
    """The different words of a text in the order of their first appearance.

    Case and accents are gone. Letters and digits are all that a word has: no quote, no operator.
    """
    found: dict[str, None] = {}
    room = _MOST
    for word, _ in _cut(text):
        if word not in found:
            room -= len(word.encode())
            if room < 0:
                break
            found[word] = None
    return list(found)


def snippet(text: str, wanted: Collection[str]) -> str:
    """At most 200 characters of a text around the first of these words, in one line."""
    at = next((start for word, start in _cut(text) if word in wanted), 0)
    start = max(0, min(at - _SNIPPET // 4, len(text) - _SNIPPET))
    return " ".join(text[start : start + _SNIPPET].split())


def _cut(text: str) -> Iterator[tuple[str, int]]:
    """(word as it is compared, where it begins)."""
    for match in _WORD.finditer(text):
        if word := _plain(match[0]):
            yield word, match.start()


def _plain(word: str) -> str:
    if word.isascii():
        return word[:_LONGEST].lower()
    bare = unicodedata.normalize("NFKD", word[:_LONGEST]).casefold()
    return "".join(char for char in bare if char.isalnum())[:_LONGEST]
