"""Generates docs/settings.md from the programs' settings, and tells whether what is there is fresh.

`python -m tools.settings_page` writes; `--check` compares and writes nothing. What a variable means is the
comment above it where it is declared; one comment may stand above several.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings

from conversation_service.settings import Settings as ConversationSettings
from draft_service.settings import Settings as DraftSettings
from gateway.settings import Settings as GatewaySettings
from kernel.service_settings import ServiceSettings

TARGET = Path(__file__).resolve().parent.parent / "docs/settings.md"
PROGRAMS: dict[str, type[BaseSettings]] = {
    "Both services": ServiceSettings,
    "The conversation service": ConversationSettings,
    "The draft service": DraftSettings,
    "The gateway": GatewaySettings,
}
HEAD = """# Settings

Environment variables, the same under `make run`, `stemma up` and `python -m conversation_service`. They are
read once, at the start, and checked: what cannot be is refused with a sentence that names the variable, and
never its value. Made by `python -m tools.settings_page` from the declarations.
"""
_FIELD = re.compile(r"    ([a-z_0-9]+): ")


def rows(settings: type[BaseSettings]) -> Iterator[tuple[list[str], str]]:
    """Fields of the class itself that stand together, and the comment above them. ValueError for a field that
    no comment explains."""
    comment: list[str] = []
    names: list[str] = []
    for line in inspect.getsource(settings).splitlines():
        field = _FIELD.match(line)
        if line.startswith("    # "):
            if names:
                yield names, " ".join(comment)
                comment, names = [], []
            comment.append(line.removeprefix("    # "))
        elif field and field[1] in settings.model_fields:
            if not comment:
                raise ValueError(f"{settings.__module__}: nothing says what {field[1]} is")
            names.append(field[1])
        elif names and not line.strip():
            yield names, " ".join(comment)
            comment, names = [], []
        elif line.startswith("    @"):
            return


def shown(value: Any) -> str:
    if value in (None, "", ()):
        return ""
    if isinstance(value, timedelta):
        hours = value // timedelta(hours=1)
        return f"`{hours // 24}d`" if hours % 24 == 0 else f"`{hours}h`"
    return f"`{value}`"


def text() -> str:
    """The page."""
    parts = [HEAD]
    for title, settings in PROGRAMS.items():
        parts.append(f"\n## {title}\n\n| variable | default | what it says |\n|---|---|---|\n")
        for names, comment in rows(settings):
            variables = "<br>".join(f"`STEMMA_{name.upper()}`" for name in names)
            defaults = "<br>".join(shown(settings.model_fields[name].default) for name in names)
            parts.append(f"| {variables} | {defaults} | {comment.replace('|', '/')} |\n")
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    if not parser.parse_args().check:
        TARGET.write_text(text())
    elif not TARGET.exists() or TARGET.read_text() != text():
        sys.exit(f"docs/{TARGET.name} is not fresh; run python -m tools.settings_page")


if __name__ == "__main__":
    main()
