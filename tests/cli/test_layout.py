"""Where the floors of a tree are drawn."""

from collections.abc import Mapping, Sequence

from stemma.conversation.v1 import floor_service_pb2
from stemma.kernel.v1 import floor_pb2
from stemma_cli.client import Client
from stemma_cli.trees.labels import read_labels
from stemma_cli.trees.layout import Line, lay_out

COMMITTED, FAILED = floor_pb2.FLOOR_STATE_COMMITTED, floor_pb2.FLOOR_STATE_FAILED


def grown(parents: Mapping[str, str], failed: Sequence[str] = ()) -> list[floor_pb2.Floor]:
    """Floors by name, each with its parent's; ordinals in the order given, the root first."""
    floors = {"root": floor_pb2.Floor(floor_id="root", state=COMMITTED)}
    children: dict[str, int] = {}
    for name, parent in parents.items():
        floors[name] = floor_pb2.Floor(
            floor_id=name,
            parent_floor_id=parent,
            depth=floors[parent].depth + 1,
            ordinal=children.get(parent, 0),
            state=FAILED if name in failed else COMMITTED,
        )
        children[parent] = children.get(parent, 0) + 1
    return list(floors.values())


def head(floor_id: str, name: str = "main", pending: str = "") -> floor_pb2.Branch:
    return floor_pb2.Branch(name=name, head_floor_id=floor_id, pending_floor_id=pending)


def drawn(lines: Sequence[Line]) -> list[str]:
    return [
        f"{line.prefix}{line.floor.floor_id if line.floor is not None else f'+{line.hidden}'}"
        f"{''.join(f' <{name}' for name in line.heads)}"
        for line in lines
    ]


def test_the_branchs_path_goes_straight_down_whatever_the_ordinals() -> None:
    floors = grown({"a": "root", "b": "root", "a1": "a", "a2": "a", "b1": "b", "c": "root"})
    assert drawn(lay_out(floors, [head("a1")], branch="main")) == [
        "root",
        "├─b",
        "│ b1",
        "├─c",
        "a",
        "├─a2",
        "a1 <main",
    ]


def test_the_branch_that_is_looked_at_decides_and_others_come_before_abandoned_ones() -> None:
    floors = grown({"a": "root", "b": "root", "c": "root"})
    branches = [head("a"), head("b", "side")]
    assert drawn(lay_out(floors, branches, branch="main"))[-1] == "a <main"
    lines = lay_out(floors, branches, branch="side")
    assert drawn(lines)[-1] == "b <side"
    assert {line.floor.floor_id: line.standing for line in lines if line.floor} == {
        "root": "active",
        "a": "live",
        "b": "active",
        "c": "abandoned",
    }


def test_without_a_branch_below_the_highest_ordinal_goes_down() -> None:
    floors = grown({"a": "root", "b": "root", "b1": "b", "b2": "b"})
    assert drawn(lay_out(floors, [head("root")], branch="main")) == ["root <main", "├─a", "b", "├─b1", "b2"]


def test_failed_floors_hang_aside_even_alone_and_a_pending_one_is_on_the_path() -> None:
    floors = grown({"a": "root", "f": "a", "g": "a"}, failed=["f", "g"])
    assert drawn(lay_out(floors, [head("a")], branch="main")) == ["root", "a <main", "├─f", "└─g"]
    floors[2].state = floor_pb2.FLOOR_STATE_GENERATING
    lines = lay_out(floors, [head("a", pending="f")], branch="main")
    assert [(line.floor.floor_id, line.standing, line.pending_of) for line in lines if line.floor][2] == (
        "f",
        "active",
        "main",
    )


def test_long_runs_are_shortened_but_never_a_head_or_a_fork() -> None:
    parents = {"1": "root"} | {str(n): str(n - 1) for n in range(2, 31)} | {"x": "20"}
    floors = grown(parents)
    branches = [head("30"), head("10", "side")]
    assert drawn(lay_out(floors, branches, branch="main")) == [
        *["root", "1", "2", "3", "+3", "7", "8", "9", "10 <side"],
        *["11", "12", "13", "+3", "17", "18", "19", "20"],
        *["├─x", "21", "22", "23", "+3", "27", "28", "29", "30 <main"],
    ]
    whole = lay_out(floors, branches, branch="main", whole=True)
    assert sum(line.floor is not None for line in whole) == len(floors)


def test_a_deep_chain_and_a_deep_nest_need_no_recursion_and_stay_narrow() -> None:
    chain = {"1": "root"} | {str(n): str(n - 1) for n in range(2, 20_001)}
    assert len(lay_out(grown(chain), [head("20000")], branch="main")) == 9

    # Each turn on the right of the one before: as deep a nest as there can be.
    nest: dict[str, str] = {}
    for n in range(1, 3_001):
        nest |= {f"n{n}": f"n{n - 1}" if n > 1 else "root", f"m{n}": f"n{n - 1}" if n > 1 else "root"}
    lines = lay_out(grown(nest), [head("root")], branch="main")
    assert len(lines) == 6_001
    assert max(len(line.prefix) for line in lines) <= 50


def test_a_thousand_turns_are_read_for_their_words_at_both_ends_only() -> None:
    class Service(Client):
        def __init__(self) -> None:
            self.asked: list[list[str]] = []

        def get_floors(self, floor_ids: Sequence[str]) -> list[floor_service_pb2.GetFloorResponse]:
            self.asked.append(list(floor_ids))
            floors = [floor_pb2.Floor(floor_id=one) for one in floor_ids]
            return [floor_service_pb2.GetFloorResponse(floor=floor) for floor in floors]

    service, names = Service(), [str(n) for n in range(1_000)]
    labels = read_labels(service, names)
    assert list(labels) == [*names[:150], *names[-150:]]
    assert [len(asked) for asked in service.asked] == [50] * 6
    assert list(read_labels(service, names[:300])) == names[:300]
