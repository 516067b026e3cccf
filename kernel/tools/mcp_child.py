"""Runs an MCP server that ends with us: `python -I -S mcp_child.py LIFELINE COMMAND ARGUMENT…`.

A program of its own that stays between: `LIFELINE` is a pipe's end that it reads. When the other end is
closed, by its owner or because its owner died in whatever way, it kills its process group: the command and
all that it has started, also behind a wrapper such as npx or uvx. When the command ends by itself, so
does this. SIGTERM is for the command, which may tidy up. Input, output and error are the command's alone.
"""

import os
import signal
import sys
import threading

NOT_FOUND = 127


def main() -> None:
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        # Python ignores SIGPIPE; the command shall have every signal as programs expect it.
        child = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ],
        )
    except OSError as error:
        print(f"cannot start the command: {error.strerror}", file=sys.stderr)
        sys.exit(NOT_FOUND)
    # Or nobody would see the command close its output.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    threading.Thread(target=_kill_at_end_of, args=(lifeline,), daemon=True).start()
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _kill_at_end_of(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
