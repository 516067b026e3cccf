"""A planned tree as the session that is made of it."""

from conversation_service.domain.exports.model import ExportBranch, ExportFloor, ExportPage, ExportTree
from conversation_service.domain.imports.model import PlannedTree
from kernel.tree.digest import ROOT_DIGEST
from kernel.tree.model import FloorState, Slot
from tests.formats.trees import digest_of, page


def session_of(tree: PlannedTree) -> ExportTree:
    """With digests, and a page id for each page; floors that share an input share its id."""
    floors: list[ExportFloor] = []
    inputs: list[ExportPage | None] = []
    ordinals: dict[str, int] = {}
    for planned in tree.floors:
        given = page(f"i{planned.index}", Slot.INPUT, planned.input) if planned.input else None
        if planned.shares_input_of is not None:
            given = inputs[planned.shares_input_of]
        inputs.append(given)
        output = page(f"o{planned.index}", Slot.OUTPUT, planned.output) if planned.output else None
        above = None if planned.parent_index is None else floors[planned.parent_index]
        parent, digest = (above.floor_id, above.digest) if above else ("root", ROOT_DIGEST.hex())
        ordinals[parent] = ordinals.get(parent, -1) + 1
        digest = digest_of(digest, given, output)
        state = FloorState.COMMITTED
        floors.append(
            ExportFloor(f"f{planned.index}", parent, ordinals[parent], state, given, output, digest)
        )
    head = "root" if tree.head is None else f"f{tree.head}"
    return ExportTree(tree.conversation.title, "root", (ExportBranch("main", head),), tuple(floors))
