"""What a plain log would have sent, beside what its tree does."""

from collections.abc import Sequence

from conversation_service.domain.imports.model import BEGINNING, LogTokens, Node
from kernel.prompt.tokens import FILE_TOKENS, estimate
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role


def log_tokens(nodes: Sequence[Node], head: str) -> LogTokens:
    """See LogTokens. Lines whose parents form a circle count as beginnings; their log is refused later."""
    own = {node.key: message_tokens(node.message) if node.message else 0 for node in nodes}
    above = {node.key: node.parent_key for node in nodes}
    on_path: dict[str, int] = {}
    calls = log_sent = tree_sent = before = 0
    for node in nodes:
        total = _path_tokens(node.key, above, own, on_path)
        if node.message and node.message.role is Role.ASSISTANT:
            calls += 1
            log_sent += before
            tree_sent += total - own[node.key]
        before += own[node.key]
    tree_next = on_path.get(head, 0) if head != BEGINNING else 0
    return LogTokens(calls, log_sent, tree_sent, before, tree_next)


def _path_tokens(key: str, above: dict[str, str | None], own: dict[str, int], known: dict[str, int]) -> int:
    """Tokens from the beginning to the node and with it; what is learnt on the way is kept."""
    chain: list[str] = []
    at: str | None = key
    while at is not None and at in own and at not in known:
        known[at] = 0
        chain.append(at)
        at = above[at]
    total = known.get(at, 0) if at is not None else 0
    for one in reversed(chain):
        total += own[one]
        known[one] = total
    return total if chain else known[key]


def message_tokens(message: Message) -> int:
    """As the stored message will be counted."""
    return max(1, sum(_part_tokens(part) for part in message.parts))


def _part_tokens(part: Part) -> int:
    match part:
        case Text() | Reasoning():
            return estimate(part.text)
        case File():
            return FILE_TOKENS
        case ToolCall():
            return estimate(part.name) + estimate(part.arguments_json)
        case ToolResult():
            return estimate(part.content)
