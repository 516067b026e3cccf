"""A conversation worth looking at: for screenshots, and for whoever checks every view at once."""

from dataclasses import dataclass
from typing import Any

from tests.console.stage import Theatre, json_text, message

HARBOUR = """The harbour wakes before the town does. Three things to know before you go down:

1. **The tide turns at six.** After that the stairs are under water.
2. The ferryman takes no coins, only *stories*.
3. Whatever the gulls say, do not answer.

> “A story that nobody tells is a rope that nobody holds.”

```python
def tide(hour: int) -> str:
    return "out" if hour < 6 else "in"
```
"""
SHORTER = "Go down before six, bring the ferryman a story, and leave the gulls alone."
LONGER = "The town is still asleep. Below it the harbour is loud already: ropes, gulls, the ferryman’s bell."
TOLD = "You tell him of the lighthouse that walked inland one winter. He laughs, and unties the boat."


@dataclass
class Demo:
    """Ids of what was made."""

    session: str
    draft: str
    entry: str
    first: str


async def make_demo(stage: Theatre) -> Demo:
    for title in ("Release notes, third try", "A recipe for two", "Why is the sky dark at night?"):
        await stage.session(title, turns=2)
    session = await stage.session(
        "The harbour",
        systemPrompt="You are the narrator. The hero is called {{hero}}.",
        variablesJson=json_text({"hero": "Mara"}),
    )
    first = await _turns(stage, session)
    draft, entry = await _draft(stage, session, first)
    return Demo(session, draft, entry, first)


async def _turns(stage: Theatre, session: str) -> str:
    """An edit, a regenerate, a branch, state; the first floor's id."""
    opening = await stage.turn(session, "Describe the town at noon.", "Noon, and every shutter is closed.")
    await stage.post(
        f"/v1/floors/{opening['floorId']}:edit",
        input=[message("USER", "Describe the harbour at dawn. What should I know?")],
        output=[message("ASSISTANT", LONGER)],
    )
    shown = (await stage.get(f"/v1/sessions/{session}/path"))["floors"][0]
    edited = await stage.post(
        f"/v1/floors/{shown['floorId']}:regenerate", sessionId=session, output=[message("ASSISTANT", HARBOUR)]
    )
    first: str = edited["floor"]["floorId"]
    effects: dict[str, Any] = {
        "variables": [{"key": "place", "valueJson": '"harbour"'}, {"key": "stories_told", "valueJson": "1"}],
        "memory": [
            {
                "op": "MEMORY_OP_ADD",
                "kind": "MEMORY_KIND_FACT",
                "text": "The ferryman is paid in stories.",
                "importance": 0.8,
            }
        ],
    }
    told = await stage.turn(session, "I tell the ferryman a story.", TOLD, effects=effects)
    await stage.post(f"/v1/sessions/{session}/branches", name="what-if", floorId=told["floorId"])
    for number, (said, answered) in enumerate(_CROSSING):
        await stage.turn(session, said, answered)
        if number == 1:
            await stage.turn(
                session,
                "Ask him for his name.",
                "He has given it away, he says, for a good ending.",
                branch="what-if",
            )
    return first


_CROSSING = [
    ("Where does he row?", "Out, past the mole, where the water is the colour of slate."),
    ("What do the gulls say?", "One word, over and over. It might be a name."),
    ("I do not answer.", "They lose interest. One of them settles on the bow and watches."),
    ("Ask the gull what it wants.", "It tilts its head. For the first time it says nothing at all."),
    ("Look back at the town.", "A window is lit that was dark before."),
    ("Whose window?", "The one above the bakery. Somebody there is awake, and writing."),
    ("Row on.", "The oars find the old rhythm. The light behind you gets small, and does not go out."),
]


async def _draft(stage: Theatre, session: str, first: str) -> tuple[str, str]:
    made = await stage.post(
        f"/v1/sessions/{session}/drafts",
        floorId=first,
        position="DRAFT_POSITION_REPLY_TO_FLOOR",
        purpose="A shorter opening",
    )
    draft = made["draft"]["draftId"]
    floor = (await stage.get(f"/v1/drafts/{draft}/transcript"))["pendingFloor"]
    await stage.post(
        f"/v1/drafts/{draft}/floors/{floor['floorId']}:commit"
        if floor.get("outputPage")
        else f"/v1/drafts/{draft}:respond",
        **({} if floor.get("outputPage") else {"resume": {"floorId": floor["floorId"]}}),
    )
    exported = await stage.post(
        f"/v1/drafts/{draft}:export",
        target={"placement": "PLACEMENT_OUTPUT_OF_FLOOR"},
        parts=[{"outputPage": {}}],
        reason="Half as long, and nothing is lost.",
    )
    return draft, exported["stagedWriteId"]
