"""Looks through every text file for what must not be published: hosts of package registries, paths of
somebody's machine, keys and passwords. Prints `file:line: what`; exit status 1 when anything is found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.files import project_files

ROOT = Path(__file__).resolve().parent.parent

# Every pattern is spelled so that this file does not match itself.
FORBIDDEN: dict[str, re.Pattern[str]] = {
    "the host of a package registry": re.compile(
        r"\b(pypi[.]org|pythonhosted[.]org|npmjs[.](?:org|com)|yarnpkg[.]com|deb[.]debian[.]org"
        r"|crates[.]io|proxy[.]golang[.]org|index[.]docker[.]io|rubygems[.]org)\b"
    ),
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:root|home|Users)/[\w.]|(?<![\w.])/work/(?:main|shared)|(?<![\w.])/opt/(?:pypi|wheels)"
    ),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE[ ]KEY-----"),
    "what looks like an access key": re.compile(
        r"\b(?:sk-[A-Za-z0-9]{20,}|sk-(?:proj|ant)-[\w-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}"
        r"|xox[abp]-[\w-]{10,}|AIza[\w-]{35})"
    ),
}


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Line number (from 1) and what is wrong, for each thing found."""
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                yield number, what


def main(root: Path = ROOT) -> int:
    """Exit status 0 when there is nothing."""
    found = 0
    for path in project_files(root):
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, what in problems(content.decode("utf-8", errors="replace")):
            print(f"{path.relative_to(root)}:{number}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
