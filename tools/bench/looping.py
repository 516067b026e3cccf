"""The draft service that can be made to turn in circles: `python -m tools.bench.looping`.

From SIGUSR1 to SIGUSR2 its event loop does nothing else, with all of a processor.
"""

import signal

from draft_service.process import run


class _Circles:
    def __init__(self) -> None:
        self._turning = False

    def begin(self, *_: object) -> None:
        self._turning = True
        while self._turning:
            pass

    def end(self, *_: object) -> None:
        self._turning = False


if __name__ == "__main__":
    circles = _Circles()
    signal.signal(signal.SIGUSR1, circles.begin)
    signal.signal(signal.SIGUSR2, circles.end)
    run()
