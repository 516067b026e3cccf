"""Where two branches part, from the chains of their segments."""

from kernel.tree.model import Place
from kernel.tree.places import Link
from kernel.verbs.merge import fork_place


def test_the_fork_of_two_chains() -> None:
    root = [Link(0, 0, 9)]
    assert fork_place(root, root) == Place(0, 9)
    assert fork_place([Link(0, 0, 4)], root) == Place(0, 4)
    assert fork_place([Link(0, 0, 4), Link(1, 5, 7)], [Link(0, 0, 4), Link(2, 5, 5)]) == Place(0, 4)
    assert fork_place([Link(0, 0, 4), Link(1, 5, 7)], [Link(0, 0, 6), Link(2, 7, 8)]) == Place(0, 4)
    assert fork_place([Link(0, 0, 4), Link(1, 5, 7)], [Link(0, 0, 4), Link(1, 5, 6)]) == Place(1, 6)
    assert fork_place([Link(0, 0, 4), Link(1, 5, 7)], [Link(0, 0, 4)]) == Place(0, 4)
