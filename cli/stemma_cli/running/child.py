"""Runs a service so that it ends with its parent, however the parent ends:

    python child.py PARENT_PID MODULE

On Linux the kernel sends it SIGTERM when the parent is gone, and it stops in good order; elsewhere only a
parent that stops by itself takes it along. Replaces itself by `python -m MODULE`, which keeps the process id.
A program of its own, and not a hook between fork and exec: gRPC's fork handlers do not stand hooks.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Never returns."""
    parent, module = int(sys.argv[1]), sys.argv[2]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        # It died before the request was in place.
        sys.exit(1)
    os.execv(sys.executable, [sys.executable, "-m", module])


if __name__ == "__main__":
    main()
