"""A program is a list of steps; a step is a few small numbers, read against the tree as it is then.

So every list is a legal program, and hypothesis can shrink one without knowing what it means. Most
steps are sensible; a share of them names what is missing, malformed, over or in the way.
"""

from dataclasses import dataclass, fields

from hypothesis import strategies as st

WEIGHTS = {
    "look": 1,
    "append": 8,
    "open": 2,
    "add_page": 5,
    "activate": 4,
    "commit": 4,
    "abandon": 3,
    "edit": 7,
    "regenerate": 7,
    "move_head": 5,
    "select_sibling": 12,
    "create_branch": 4,
    "delete_branch": 3,
    "respond": 3,
    "start_run": 1,
    "cancel_run": 3,
    "repeat": 3,
    "reuse": 2,
}
BYTES = 7
VERBS = [verb for verb, weight in WEIGHTS.items() for _ in range(weight)]
HEADS = ["any"] * 10 + ["right"] * 3 + ["wrong"]
FAULTS = ["none"] * 40 + ["unknown", "malformed", "no_branch", "empty"]


@dataclass(frozen=True, repr=False)
class Step:
    """`pick` chooses among floors or pages, `form` among a verb's variants."""

    verb: str = "look"
    pick: int = 0
    branch: int = 0
    form: int = 0
    abandon: bool = False
    head: str = "any"
    fault: str = "none"

    def __repr__(self) -> str:
        """Only what differs from the plainest step: most of a shrunk program."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return f"Step({', '.join(f'{name}={value!r}' for name, value in said.items())})"


def programs(length: int) -> st.SearchStrategy[list[Step]]:
    """Decoded from bytes: those are drawn evenly, and the same from a seed on every machine, where
    numbers and lists are also drawn from the constants of whatever modules are loaded."""
    size = length * BYTES
    return st.binary(min_size=size, max_size=size).map(decode)


def decode(raw: bytes) -> list[Step]:
    return [_step(raw[at : at + BYTES]) for at in range(0, len(raw), BYTES)]


def _step(raw: bytes) -> Step:
    return Step(
        verb=VERBS[raw[0] % len(VERBS)],
        pick=raw[1],
        branch=raw[2] % 8,
        form=raw[3] % 16,
        abandon=raw[4] % 3 > 0,
        head=HEADS[raw[5] % len(HEADS)],
        fault=FAULTS[raw[6] % len(FAULTS)],
    )
