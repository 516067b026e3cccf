"""What stays of effects once their words are erased."""

from kernel.state.model import Effects
from kernel.state.text import effects_from
from kernel.strict_json import dumps


def without_words(text: bytes) -> bytes:
    """The writes of memory alone, by kind and id, without what they say: a later write of the same path may
    name them, and must still find them. They begin as `kernel.tree.digest.ERASED_EFFECTS` says."""
    effects: Effects = effects_from(text)
    memory = [
        {
            "op": write.op.name,
            "memory_id": write.memory_id,
            **_kind(write.kind),
            **_covers(write.covers_depth),
        }
        for write in effects.memory
    ]
    return dumps({"erased": True, **({"memory": memory} if memory else {})}).encode()


def _kind(kind: object) -> dict[str, str]:
    name = getattr(kind, "name", "")
    return {"kind": name} if name else {}


def _covers(depth: int) -> dict[str, int]:
    return {"covers_depth": depth} if depth else {}
