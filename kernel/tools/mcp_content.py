"""What MCP servers answer, turned into tools and results. Imports the SDK: import this module lazily."""

from collections.abc import Iterable, Iterator

import mcp_types as types

from kernel.strict_json import NotJson, dumps, loads
from kernel.tools.mcp_model import MAX_DESCRIPTION, MAX_NAME, MAX_PARAMETERS, McpResult, McpTool

# Of what a server says of a file or an address.
_MAX_WORD = 500


def tools_of(listed: Iterable[types.Tool]) -> Iterator[McpTool]:
    """The tools that can be shown to a model, in their order. What has no name, no schema, or the name of one
    before it is left out."""
    names: set[str] = set()
    for tool in listed:
        parameters = _parameters(tool)
        if (
            parameters is None
            or not 0 < len(tool.name) <= MAX_NAME
            or "\0" in tool.name
            or tool.name in names
        ):
            continue
        names.add(tool.name)
        yield McpTool(tool.name, _text(tool.description or "")[:MAX_DESCRIPTION], parameters)


def _parameters(tool: types.Tool) -> str | None:
    try:
        text = dumps(tool.input_schema)
        loads(text)
    except (NotJson, RecursionError):
        return None
    return text if len(text.encode()) <= MAX_PARAMETERS else None


def result_of(answer: types.CallToolResult, max_bytes: int) -> McpResult:
    """Texts and descriptions, each on lines of their own; what is too large is an error in its place."""
    pieces = [_piece(block) for block in answer.content]
    if not pieces and answer.structured_content is not None:
        pieces = [dumps(answer.structured_content)]
    content = _text("\n".join(pieces))
    if len(content.encode()) > max_bytes:
        return too_large(max_bytes)
    return McpResult(content, bool(answer.is_error))


def too_large(max_bytes: int) -> McpResult:
    """For a result of which nothing is kept: half of one would mislead."""
    return McpResult(f"The tool's result was dropped: it is larger than {max_bytes:,} bytes.", is_error=True)


def _piece(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return _described(block.type, mime_type=block.mime_type, bytes=_decoded_size(block.data))
        case types.ResourceLink():
            return _described("resource_link", uri=block.uri, name=block.name, mime_type=block.mime_type)
        case types.EmbeddedResource():
            return _file(block.resource)


def _file(file: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(file, types.TextResourceContents):
        return _described("resource", uri=file.uri, mime_type=file.mime_type) + "\n" + file.text
    return _described("resource", uri=file.uri, mime_type=file.mime_type, bytes=_decoded_size(file.blob))


def _described(kind: str, **members: str | int | None) -> str:
    said = {
        name: value[:_MAX_WORD] if isinstance(value, str) else value
        for name, value in members.items()
        if value is not None
    }
    return dumps({"type": kind, **said})


def _decoded_size(base64: str) -> int:
    return len(base64.rstrip("=")) * 3 // 4


def _text(text: str) -> str:
    """Without NUL, which no field can hold."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
