"""The text that everything is measured with: the same turns for Stemma, bare statements and peers.

Standard library only: the peers' environment imports it too.
"""

import random
from collections.abc import Iterator
from itertools import accumulate

# Bytes of one turn: what the user says, and the reply.
INPUT_BYTES, OUTPUT_BYTES = 400, 800

# How often a letter comes in English, in thousandths, and how many words there are.
_LETTERS = "etaoinshrdlcumwfgypbvk"
_OFTEN = (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15, 10, 8)
_WORDS = 5_000


def _vocabulary(rng: random.Random) -> list[str]:
    return ["".join(rng.choices(_LETTERS, _OFTEN, k=rng.randint(2, 9))) for _ in range(_WORDS)]


def turns(seed: int = 1) -> Iterator[tuple[str, str]]:
    """Endlessly (what the user says, the reply), of exactly INPUT_BYTES and OUTPUT_BYTES ASCII characters.

    The n-th word comes a n-th as often as the first, as in a language: so engines that compress what they
    store make of it about what they make of prose.
    """
    rng = random.Random(seed)
    words = _vocabulary(rng)
    weights = list(accumulate(1 / rank for rank in range(1, _WORDS + 1)))

    def text(size: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=size // 3))[:size]

    while True:
        yield text(INPUT_BYTES), text(OUTPUT_BYTES)
