"""Parsed messages, for the few who read them: providers and the command line. Pure."""

from dataclasses import dataclass, field

from kernel.tree.model import Role


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class File:
    """By reference (`uri`) or by value (`data`)."""

    media_type: str
    uri: str = ""
    data: bytes = b""
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    call_id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str
    signature: str = ""


Part = Text | File | ToolCall | ToolResult | Reasoning


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]
    name: str = ""
    hidden: bool = False
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))
