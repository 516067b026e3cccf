"""`python read_only.py MODULE`: runs the module as `-m` would, on a file system that refuses every write.

Python tells of each file that it opens, makes, moves or removes, its libraries' too; what a container with a
read-only file system would refuse is refused here. /dev/null and pipes are no files of it.
"""

import os
import runpy
import sys

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.utime"}


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & _WRITES and isinstance(path, str) and path != os.devnull:
            raise OSError(30, "Read-only file system", path)
    if event in _CHANGES:
        raise OSError(30, "Read-only file system", str(arguments[0]))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.addaudithook(refuse)
    module = sys.argv.pop(1)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
