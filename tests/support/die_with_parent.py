"""Runs a command that ends when its parent does, however the parent ends (Linux; elsewhere it just runs).

    python die_with_parent.py PARENT_PID [--user UID:GID] COMMAND ARGUMENT…

It replaces itself by the command, so the process id stays. A program of its own rather than a hook
between fork and exec: gRPC's fork handlers do not stand hooks.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Never returns: becomes the command, or exits with 1 when the parent is gone already."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if command[0] == "--user":
        user, group = map(int, command[1].split(":"))
        command = command[2:]
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    # Whoever was started in the background of a script ignores both, and so would the command.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        # After the change of user, which would clear it. PostgreSQL takes SIGQUIT for an immediate
        # shutdown, and removes its shared memory; what has no handler for it just ends.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
