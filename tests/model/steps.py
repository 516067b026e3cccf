"""A program is a list of steps; a step is a few small numbers, read against the tree as it is then.

So every list is a legal program, and hypothesis can shrink one without knowing what it means. Most
steps are sensible; a share of them names what is missing, malformed, over or in the way.
"""

from dataclasses import dataclass, fields

from hypothesis import strategies as st

WEIGHTS = {
    "look": 1,
    "append": 7,
    "open": 3,
    "add_page": 5,
    "activate": 4,
    "commit": 4,
    "abandon": 3,
    "edit": 6,
    "regenerate": 6,
    "move_head": 5,
    "select_sibling": 7,
    "create_branch": 3,
    "delete_branch": 2,
    "respond": 4,
    "start_run": 3,
    "cancel_run": 2,
    "repeat": 3,
    "reuse": 2,
}
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
    step = st.tuples(
        st.sampled_from(VERBS),
        st.integers(0, 255),
        st.integers(0, 7),
        st.integers(0, 15),
        st.booleans(),
        st.sampled_from(HEADS),
        st.sampled_from(FAULTS),
    ).map(lambda values: Step(*values))
    return st.lists(step, min_size=length, max_size=length)
