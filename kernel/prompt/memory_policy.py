"""Which remembered items a model may be sent: proposals reach one only as the configuration allows. Pure.

What a client of this service writes is remembered. What a model or an imported text brought up is a
proposal: the floor that brought it keeps it, and whoever reads the state sees it with its trust, but no
context holds it unless `memory_policy.mode` is AUTO and the item passes the rest of the policy. The
policy is part of the effective configuration: a change holds for the whole path from then on.
"""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from kernel.prompt.config import MemoryPolicy
from kernel.state.model import MemoryItem


class MemoryMode(IntEnum):
    """Numbers as in stemma.kernel.v1.MemoryMode."""

    OFF = 1
    PROPOSE = 2
    AUTO = 3


TRUSTED = "trusted"


def refused(policy: MemoryPolicy, items: Sequence[MemoryItem]) -> frozenset[str]:
    """The ids of the proposals that the policy keeps from models.

    `max_items_per_turn` counts, for each floor, the proposals that pass everything else, in the order
    given: the order in which they were remembered.
    """
    taken: Counter[str] = Counter()
    found = set()
    for item in items:
        if item.trust == TRUSTED:
            continue
        most = policy.max_items_per_turn
        if _passes(policy, item) and (most is None or taken[item.floor_id] < most):
            taken[item.floor_id] += 1
        else:
            found.add(item.memory_id)
    return frozenset(found)


def _passes(policy: MemoryPolicy, item: MemoryItem) -> bool:
    if policy.mode != MemoryMode.AUTO or item.importance < (policy.min_importance or 0):
        return False
    return not policy.kinds or item.kind in policy.kinds
