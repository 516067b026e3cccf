"""The digest of a snapshot: a golden vector, so that any language can make it."""

from hashlib import sha256

from kernel.prompt.config import Config, ModelConfig
from kernel.state.model import State, Value
from kernel.tree.digest import ROOT_DIGEST
from kernel.verbs.snapshots import Base, Snapshot, Versions, snapshot_digest
from kernel.verbs.state_store import NO_LAYER, LiveLayer, LiveRow

# By hand, as the formula says.
CONFIG = b'{"model":{"temperature":0.5},"system_prompt":"Be kind."}'
STATE = b'{"variables":[["mood","\\"calm\\"",""]],"deleted":["gone"]}'
LIVE = b'[[["coins","9007199254740993"]],[]]'
GOLDEN = "3bb58f8e074c2f3894fdb661830b0af032985fb58841a54b4a88e18c20325f83"


def snapshot(floor_count: int = 1) -> Snapshot:
    state = State({"mood": Value('"calm"', "0193a1b2-0000-7000-8000-000000000001")}, frozenset({"gone"}))
    return Snapshot(
        project_id="p",
        session_id="s",
        title="t",
        config=Config("Be kind.", ModelConfig(temperature=0.5)),
        versions=Versions("c", "l", 1, 2),
        state=state,
        session_live=LiveLayer(7, (LiveRow("coins", "9007199254740993", 3, "somebody"),)),
        project_live=NO_LAYER,
        base=Base("f", ROOT_DIGEST, 1, "f", 5),
        floor_count=floor_count,
    )


def by_hand(path: bytes) -> str:
    parts = [sha256(part).digest() for part in (CONFIG, STATE, LIVE)]
    return sha256(b"stemma.snapshot.1" + b"".join(parts) + bytes(32) + path).hexdigest()


def test_the_golden_vector() -> None:
    assert snapshot_digest(snapshot()).hex() == by_hand(sha256(b"stemma.root.1").digest()) == GOLDEN


def test_without_history_the_path_is_zeros() -> None:
    assert snapshot_digest(snapshot(0)).hex() == by_hand(bytes(32))
