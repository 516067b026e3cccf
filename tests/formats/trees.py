"""Random sessions, and random node trees, for hypothesis."""

from hypothesis import strategies as st

from conversation_service.domain.exports.model import ExportBranch, ExportFloor, ExportPage, ExportTree
from kernel.tree.digest import ROOT_DIGEST, floor_digest, page_digest
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import FloorState, Page, PageContent, Role, Slot, Usage
from tests.formats.support import encode
from tests.unit.builders import NOW

TEXT = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12
) | st.sampled_from(
    ['"', "\\", "replies", '{"replies":[{', "\n\r", "\ufeff", "</script>", "\u2028", "__proto__"]
)
SOME = TEXT.filter(bool)

PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, TEXT),
    st.builds(File, SOME, SOME, st.just(b""), TEXT),
    st.builds(File, SOME, st.just(""), st.binary(max_size=8), TEXT),
    st.builds(ToolCall, SOME, SOME, st.sampled_from(["", "{}", '{"a":9007199254740993}', "[1.50]"])),
    st.builds(ToolResult, SOME, TEXT, st.booleans()),
    st.builds(Reasoning, TEXT, TEXT),
)
PLAIN = st.builds(Message, st.sampled_from(Role), st.tuples(st.builds(Text, SOME)))
METADATA = st.dictionaries(SOME.filter(lambda key: key != "stemma.provenance"), TEXT, max_size=2) | st.just(
    {"time": "1700000000.5"}
)
RICH = st.builds(
    Message,
    st.sampled_from(Role),
    st.lists(PARTS, min_size=1, max_size=3).map(tuple),
    TEXT,
    st.booleans(),
    METADATA,
)
MESSAGES = PLAIN | RICH


def page(page_id: str, slot: Slot, messages: tuple[Message, ...], partial: bool = False) -> ExportPage:
    digest = page_digest(slot, partial, encode(messages)).hex()
    return ExportPage(page_id, slot, messages, digest, partial, "client")


def _digested(held: ExportPage | None) -> Page | None:
    if held is None:
        return None
    nothing = PageContent(b"", ())
    return Page("", "", held.slot, nothing, bytes.fromhex(held.digest), 0, held.partial, "", NOW)


def digest_of(above: str, input: ExportPage | None, output: ExportPage | None) -> str:
    return floor_digest(bytes.fromhex(above), _digested(input), _digested(output)).hex()


@st.composite
def sessions(draw: st.DrawFn, max_floors: int = 12) -> ExportTree:
    """Any shape a session can have: edits, regenerations that share an input page, one-sided floors,
    failed and pending ones, candidates, branches, a head anywhere."""
    floors: list[ExportFloor] = []
    committed: list[tuple[str, str]] = [("root", ROOT_DIGEST.hex())]
    pages = st.lists(MESSAGES, min_size=1, max_size=3).map(tuple)
    for number in range(draw(st.integers(0, max_floors))):
        parent, above = draw(st.sampled_from(committed))
        siblings = [floor for floor in floors if floor.parent_floor_id == parent]
        sides = draw(st.sampled_from(["both", "both", "input", "output"]))
        shared = [floor.input for floor in siblings if floor.input is not None]
        given = None
        if sides != "output":
            fresh = page(f"i{number}", Slot.INPUT, draw(pages))
            given = draw(st.sampled_from([fresh, *shared]))
        output = None
        if sides != "input":
            output = page(f"o{number}", Slot.OUTPUT, draw(pages), draw(st.booleans()))
        state = draw(st.sampled_from([FloorState.COMMITTED] * 4 + [FloorState.FAILED, FloorState.OPEN]))
        sealed = state is FloorState.COMMITTED
        spare = [page(f"c{number}", Slot.OUTPUT, draw(pages))] if draw(st.booleans()) else []
        floor = ExportFloor(
            f"f{number}",
            parent,
            len(siblings),
            state,
            given,
            output,
            digest_of(above, given, output) if sealed else "",
            tuple(spare),
            "" if sealed else "CRASHED",
            draw(st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.booleans())),
            "main",
            create_time="2026-01-02T03:04:05Z",
        )
        floors.append(floor)
        if sealed:
            committed.append((floor.floor_id, floor.digest))
    heads = st.sampled_from([floor_id for floor_id, _ in committed])
    branches = (ExportBranch("main", draw(heads)), ExportBranch("b.2", draw(heads), None, None))
    return ExportTree(draw(TEXT), "root", branches, tuple(floors), draw(st.sampled_from(["", '{"a":1}'])))
