"""What a ChatGPT message holds, in its many shapes, as parts.

What has no counterpart is kept as its JSON, in a text, and warned about: nothing is dropped.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conversation_service.domain.imports.model import Warnings
from conversation_service.domain.limits import MAX_NAME
from kernel.strict_json import dumps
from kernel.tree.message import File, Part, Reasoning, Text

_TEXT_MEMBERS = ("text", "result", "content")


@dataclass(frozen=True, slots=True)
class Content:
    """Parts without empty texts, and what else the file says of them."""

    parts: tuple[Part, ...]
    metadata: dict[str, str]


def content_of(value: object, warnings: Warnings) -> Content:
    """The content of a message; without parts when it says nothing."""
    reader = _Reader(warnings)
    parts = tuple(part for part in reader.parts(value) if part not in (Text(""), Reasoning("")))
    notes = {"parts": dumps(reader.notes)} if reader.notes else {}
    return Content(parts, reader.metadata | notes)


@dataclass(slots=True)
class _Reader:
    warnings: Warnings
    metadata: dict[str, str] = field(default_factory=dict)
    # The objects of parts that have a counterpart, with the details that it cannot hold.
    notes: list[dict[str, Any]] = field(default_factory=list)

    def parts(self, value: object) -> Iterator[Part]:
        if value is None:
            return
        if isinstance(value, list):
            for item in value:
                yield from self._item(item)
        elif isinstance(value, dict):
            yield from self._content(value)
        else:
            yield from self._item(value)

    def _content(self, value: dict[str, Any]) -> Iterator[Part]:
        kind = value.get("content_type")
        rest = {name: held for name, held in value.items() if name not in ("content_type", "parts")}
        if "parts" in value:
            yield from self.parts(value["parts"])
            self._keep(rest)
        elif isinstance(kind, str) and kind in _READERS:
            yield from _READERS[kind](self, rest)
        elif name := next((n for n in _TEXT_MEMBERS if isinstance(value.get(n), str)), None):
            yield Text(rest.pop(name))
            self._keep(rest)
        elif any(held not in (None, "", [], {}) for held in rest.values()):
            yield self._raw(value)

    def _item(self, item: object) -> Iterator[Part]:
        if item is None:
            return
        if isinstance(item, str):
            yield Text(item)
        elif isinstance(item, dict) and isinstance(item.get("asset_pointer"), str) and item["asset_pointer"]:
            self.notes.append(item)
            yield File(_media_type(item), item["asset_pointer"])
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            if not item.keys() <= {"type", "content_type", "text"}:
                self.notes.append(item)
            yield Text(item["text"])
        else:
            yield self._raw(item)

    def thoughts(self, rest: dict[str, Any]) -> Iterator[Part]:
        thoughts = rest.pop("thoughts", None)
        for thought in thoughts if isinstance(thoughts, list) else [thoughts]:
            if isinstance(thought, dict) and isinstance(thought.get("content"), str):
                summary = thought.get("summary")
                lead = f"{summary}\n" if isinstance(summary, str) and summary else ""
                yield Reasoning(lead + thought["content"])
            elif thought is not None:
                yield self._raw(thought)
        self._keep(rest)

    def recap(self, rest: dict[str, Any]) -> Iterator[Part]:
        said = rest.pop("content", None)
        yield Reasoning(said) if isinstance(said, str) else self._raw(said)
        self._keep(rest)

    def _keep(self, rest: dict[str, Any]) -> None:
        kept = {name: held for name, held in rest.items() if held not in (None, "", [], {})}
        if kept:
            self.metadata["content"] = dumps(kept)

    def _raw(self, value: object) -> Part:
        self.warnings.add("A part of a message has no counterpart: its JSON is kept as text.")
        return Text(dumps(value))


_READERS: Mapping[str, Callable[[_Reader, dict[str, Any]], Iterator[Part]]] = {
    "thoughts": _Reader.thoughts,
    "reasoning_recap": _Reader.recap,
}


def _media_type(item: dict[str, Any]) -> str:
    """Exports do not say what a file is; the kind of the pointer tells images and sounds."""
    kind = item.get("content_type")
    if isinstance(kind, str):
        family = kind.partition("_")[0]
        if family in ("image", "audio", "video") and len(kind) <= MAX_NAME:
            return f"{family}/*"
    return "application/octet-stream"
