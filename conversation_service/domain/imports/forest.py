"""From a file's nodes to the tree of its messages: keys resolved, empty nodes passed over.

Everything here is iterative: files hold chains of 100,000 messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from conversation_service.domain.imports.model import (
    BEGINNING,
    MAX_NODES,
    Conversation,
    Node,
    Warnings,
)
from conversation_service.domain.limits import LIMIT, Refused, check_message, refuse
from kernel.tree.message import Message

_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Forest:
    """Messages by number, in the file's order, and their sizes in bytes. `children` and `roots` are in
    sibling order; `head` None is before the first message."""

    messages: Sequence[Message]
    sizes: Sequence[int]
    children: Sequence[Sequence[int]]
    roots: Sequence[int]
    head: int | None


def forest(conversation: Conversation, warnings: Warnings) -> Forest:
    """Raises Refused for a cycle, an id used twice, too many messages, or a message that is over a limit."""
    nodes = conversation.nodes
    if len(nodes) > MAX_NODES:
        raise Refused(LIMIT, f"The conversation has more than {MAX_NODES} messages.")
    numbers = _numbers(nodes)
    below, roots = _links(nodes, numbers, warnings)
    order, above = _contracted(nodes, below, roots)
    if len(order) < len(nodes):
        raise refuse("The parents of some messages form a cycle.")
    kept = {node: number for number, node in enumerate(n for n, node in enumerate(nodes) if node.message)}
    messages = [node.message for node in nodes if node.message]
    sizes = [check_message(message, f"Message {number}") for number, message in enumerate(messages, 1)]
    children: list[list[int]] = [[] for _ in messages]
    tops: list[int] = []
    for node in order:
        if node in kept:
            parent = above[node]
            (tops if parent == _NOWHERE else children[kept[parent]]).append(kept[node])
    head = _head(conversation, numbers, warnings)
    if head is None:
        return Forest(messages, sizes, children, tops, _last_leaf(children))
    while head != _NOWHERE and head not in kept:
        head = above[head]
    return Forest(messages, sizes, children, tops, None if head == _NOWHERE else kept[head])


def _numbers(nodes: Sequence[Node]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, node in enumerate(nodes):
        if numbers.setdefault(node.key, number) != number:
            raise refuse(f"Messages {numbers[node.key] + 1} and {number + 1} have the same id.")
    return numbers


def _links(
    nodes: Sequence[Node], numbers: dict[str, int], warnings: Warnings
) -> tuple[list[list[int]], list[int]]:
    """Each node's children, and the nodes without a parent, in sibling order."""
    below: list[list[int]] = [[] for _ in nodes]
    roots: list[int] = []
    for number, node in enumerate(nodes):
        parent = _NOWHERE if node.parent_key is None else numbers.get(node.parent_key, _NOWHERE)
        if parent == number:
            raise refuse(f"Message {number + 1} is its own parent.")
        if parent == _NOWHERE and node.parent_key is not None:
            warnings.add("A message's parent is not in the file: kept as a beginning of its own.")
        (roots if parent == _NOWHERE else below[parent]).append(number)
    if len(roots) > 1:
        warnings.add(f"The conversation has {len(roots)} beginnings: all are kept, beside each other.")
    for siblings in (*below, roots):
        if len(siblings) > 1 and any(nodes[n].rank is not None for n in siblings):
            siblings.sort(key=lambda n: (nodes[n].rank is None, nodes[n].rank or 0))
    return below, roots


def _contracted(
    nodes: Sequence[Node], below: list[list[int]], roots: list[int]
) -> tuple[list[int], list[int]]:
    """All that can be reached, depth first, and for each node its nearest ancestor with content."""
    above = [_NOWHERE] * len(nodes)
    order: list[int] = []
    waiting = roots[::-1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        ancestor = node if nodes[node].message else above[node]
        for child in reversed(below[node]):
            above[child] = ancestor
            waiting.append(child)
    return order, above


def _head(conversation: Conversation, numbers: dict[str, int], warnings: Warnings) -> int | None:
    key = conversation.current_key
    if key == BEGINNING:
        return _NOWHERE
    if key is None:
        if conversation.nodes:
            warnings.add("The file marks no message as current: the head is its last leaf.")
        return None
    if key not in numbers:
        warnings.add("The message that is marked as current is not in the file: the head is its last leaf.")
        return None
    return numbers[key]


def _last_leaf(children: Sequence[Sequence[int]]) -> int | None:
    return next((n for n in range(len(children) - 1, -1, -1) if not children[n]), None)
