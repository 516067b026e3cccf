"""When and whom to kill: drawn from a seed, before anything starts."""

from __future__ import annotations

import random
from dataclasses import dataclass

# So many calls at most are waited for between a kill and the next, and so many seconds after them.
_MOST_CALLS, _MOST_SECONDS = 100, 0.3


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: of the replica with this number, or of PostgreSQL (None).

    It comes once `calls` (at least one) were acknowledged since the last kill was over, and `delay` seconds
    later. A killed PostgreSQL starts again after `away` seconds.
    """

    replica: int | None
    calls: int
    delay: float
    away: float


def schedule(seed: int, *, service: int, postgres: int, replicas: int) -> list[Kill]:
    """`service` and `postgres` kills in random order. The same arguments give the same list."""
    draw = random.Random(seed)
    victims = [number % replicas for number in range(service)] + [None] * postgres
    draw.shuffle(victims)
    return [
        # Many short waits and some long ones: kills that meet a start as well as a full load.
        Kill(
            victim,
            1 + int(_MOST_CALLS * draw.random() ** 2),
            _MOST_SECONDS * draw.random(),
            draw.random() / 2,
        )
        for victim in victims
    ]
