"""The conversation service under cProfile: `python -m tools.bench.profiled FILE`.

The main thread is profiled between two SIGUSR1, the others (SQLite's) all the time. Writes FILE, a table for
people, when the service ends: for each thread the functions by their own time, then by
the time below them. The profiler makes Python slower than it is, and C not: read shares, not times.
"""

import cProfile
import io
import pstats
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from conversation_service.process import run

_TOP = 45
# Seconds that a thread must have worked to be shown.
_LEAST = 0.05
_profiles: list[tuple[str, cProfile.Profile]] = []


def _begin(*_: Any) -> None:
    """Replaces itself, in each new thread, by the profiler."""
    profile = cProfile.Profile()
    _profiles.append((threading.current_thread().name, profile))
    profile.enable()


def _table(name: str, profile: cProfile.Profile) -> str:
    out = io.StringIO()
    if sum(entry.inlinetime for entry in profile.getstats()) < _LEAST:
        return ""
    stats = pstats.Stats(profile, stream=out)
    stats.strip_dirs()
    for order in ("tottime", "cumulative"):
        out.write(f"\n=== thread {name}, by {order} ===\n")
        stats.sort_stats(order).print_stats(_TOP)
    return out.getvalue()


class _Toggle:
    """Profiles the main thread from one signal to the next."""

    def __init__(self) -> None:
        self._profile = cProfile.Profile()
        self._on = False
        _profiles.append(("main", self._profile))

    def __call__(self, *_: object) -> None:
        self._on = not self._on
        if self._on:
            self._profile.enable()
        else:
            self._profile.disable()


def main() -> None:
    target = Path(sys.argv[1])
    threading.setprofile(_begin)
    signal.signal(signal.SIGUSR1, _Toggle())
    try:
        run()
    finally:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(_table(name, profile) for name, profile in _profiles), encoding="utf-8")


if __name__ == "__main__":
    main()
