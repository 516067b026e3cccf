"""Each view by itself: what it shows, by mouse, by keyboard, on a phone."""

import re

import pytest
from playwright.async_api import expect

from tests.console.stage import Theatre, Visitor, json_text, message

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_tree_by_keyboard_moves_the_head_and_branches(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("By keyboard", turns=3)
    await visitor.open(f"s/{session}/tree")
    card = visitor.page.get_by_role("treeitem", name=re.compile("user 3"))
    await card.focus()
    await visitor.page.keyboard.press("ArrowUp")
    second = visitor.page.get_by_role("treeitem", name=re.compile("user 2"))
    await expect(second).to_be_focused()
    await visitor.page.keyboard.press("Enter")
    detail = visitor.page.get_by_label("The chosen turn")
    await expect(detail).to_contain_text("answer 2")
    await visitor.button("Move the head here", detail).click()
    await expect(visitor.button("The head is here", detail)).to_be_disabled()
    await expect(visitor.page.get_by_role("treeitem", name=re.compile("user 3.*abandoned"))).to_be_visible()
    await visitor.button("Branch here…", detail).click()
    await visitor.page.get_by_label("Name").fill("what-if")
    await visitor.button("Create").click()
    await expect(visitor.page.get_by_role("button", name="Branch: what-if")).to_be_visible()
    await visitor.say("On the other branch.")
    branches = (await stage.get(f"/v1/sessions/{session}/branches"))["branches"]
    assert {one["name"]: one["depth"] for one in branches} == {"main": 2, "what-if": 3}


async def test_a_long_run_is_folded_and_opened(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Long run", turns=12)
    await visitor.open(f"s/{session}/tree")
    items = visitor.page.get_by_role("treeitem")
    await expect(items).to_have_count(3)
    await visitor.page.get_by_role("treeitem", name=re.compile("11 turns")).click()
    await visitor.button("Show all").click()
    await expect(items).to_have_count(13)


async def test_the_context_says_what_was_left_out_and_what_changed(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Budget", systemPrompt="Be brief.", budget={"maxInputTokens": 60})
    stage.part("the last one", {"text": "Yes."})
    for number in range(4):
        effects = {"variables": [{"key": "hp", "valueJson": str(number)}]}
        await stage.turn(
            session,
            f"a longer message, number {number} of them",
            "an answer that takes room",
            effects=effects,
        )
    await visitor.chat(session)
    await visitor.say("the last one")
    await visitor.more(visitor.turn(-1), "What the model was sent")
    await expect(visitor.page.get_by_role("heading", name="Exactly what was sent")).to_be_visible()
    await expect(visitor.page.get_by_role("region", name="Left out")).to_contain_text(
        "did not fit the budget"
    )
    sent = visitor.page.get_by_role("list", name="Messages, in order")
    await expect(sent).to_contain_text("Be brief.")
    await expect(sent).not_to_contain_text("number 0 of them")

    shown = visitor.page.get_by_role("combobox", name="Show", exact=True)
    third = await visitor.page.locator("option", has_text="Turn 3:").first.get_attribute("value")
    await shown.select_option(third)
    await expect(visitor.page.get_by_role("region", name="State")).to_contain_text("1 → 2")
    await visitor.page.get_by_label("Compare with").select_option(
        await visitor.page.locator("option", has_text="Turn 2:").first.get_attribute("value")
    )
    comparison = visitor.page.get_by_role("region", name="Comparison")
    await expect(comparison.locator(".added", has_text="number 2 of them")).to_be_visible()


async def test_a_dry_run_shows_what_would_be_sent_with_a_message(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Dry", turns=1)
    await visitor.open(f"s/{session}/context")
    await visitor.page.get_by_placeholder("… with this message").fill("And now?")
    await visitor.button("Assemble").click()
    sent = visitor.page.get_by_role("list", name="Messages, in order")
    await expect(sent).to_contain_text("And now?")
    await expect(sent.get_by_role("listitem")).to_have_count(3)


async def test_a_call_that_waits_is_approved_over_a_reload(stage: Theatre, visitor: Visitor) -> None:
    tool = {
        "name": "open_door",
        "description": "Opens the door.",
        "parametersJson": json_text({"type": "object", "properties": {"door": {"type": "string"}}}),
        "owner": "TOOL_OWNER_CLIENT",
        "sideEffect": "TOOL_SIDE_EFFECT_IRREVERSIBLE",
    }
    session = await stage.session("Doors", tools=[tool])
    call = {"tool_calls": [{"name": "open_door", "arguments": {"door": "front"}}]}
    stage.part("Open the door.", call, {"after_results": 1, "text": "It is open."})
    await visitor.chat(session)
    await visitor.composer.fill("Open the door.")
    await visitor.composer.press("Enter")
    waiting = visitor.page.get_by_role("group", name="The model waits for you")
    await expect(waiting).to_contain_text("open_door")
    await visitor.page.reload()
    await expect(waiting).to_contain_text("front")
    await visitor.button("Approve", waiting).click()
    result = waiting.get_by_label("Result of open_door")
    await result.fill("creak")
    await visitor.button("Send the result").click()
    await visitor.settled()
    await expect(visitor.turn(-1)).to_contain_text("It is open.")


async def test_the_feed_is_live_and_survives_a_broken_connection(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open("feed")
    await expect(visitor.page.get_by_text("live", exact=True)).to_be_visible()
    first = await stage.session("One event")
    events = visitor.page.locator(".event")
    await expect(events.first).to_contain_text("session.created")
    before = await events.first.locator(".number").inner_text()
    visitor.faults.expect("failed: GET")
    stage.network.cut()
    await stage.turn(first, "said while away", "answered")
    await expect(events.first).to_contain_text("floor.committed")
    after = await events.first.locator(".number").inner_text()
    assert int(after.replace(",", "")) == int(before.replace(",", "")) + 1


async def test_the_system_page_tells_health_versions_and_figures(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open("system")
    await expect(visitor.page.get_by_role("region", name="Health")).to_contain_text(
        "Conversation service is serving"
    )
    await expect(visitor.page.get_by_role("region", name="Key figures")).to_contain_text("Events so far")
    await expect(visitor.page.get_by_role("region", name="Versions")).to_contain_text("OpenAPI")


async def test_earlier_turns_load_as_one_scrolls_and_nothing_moves_under_the_eyes(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Long", turns=60)
    await visitor.chat(session)
    turns = visitor.page.locator("article.turn")
    await expect(turns).to_have_count(40)
    await expect(turns.last).to_be_in_viewport()
    watched = visitor.page.get_by_text("user 22", exact=True)
    await watched.scroll_into_view_if_needed()
    await expect(turns).to_have_count(60)
    await expect(watched).to_be_in_viewport()


async def test_a_place_in_the_path_is_found_however_far_up(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Deep", turns=90)
    floor = (await stage.get(f"/v1/sessions/{session}/path"))["floors"][1]["floorId"]
    await visitor.open(f"s/{session}/chat?floor={floor}")
    await expect(visitor.page.get_by_text("user 2", exact=True)).to_be_in_viewport()


async def test_nothing_jumps_while_an_answer_is_written_and_finished(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Calm", turns=3)
    part = stage.part("Write.", {"deltas": ["One. ", "Two. ", "Three."]}, hold_at=2)
    await visitor.chat(session)
    await visitor.composer.fill("Write.")
    await visitor.composer.press("Enter")
    answer = visitor.turn(-1).locator(".output .message")
    await expect(answer).to_contain_text("One. Two.")
    where = "e => e.getBoundingClientRect().top"
    before = await answer.evaluate(where)
    part.go()
    await visitor.settled()
    assert abs(await answer.evaluate(where) - before) <= 1
    await expect(visitor.composer).to_be_focused()


async def test_a_conversation_by_keyboard_alone(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Keys")
    await visitor.chat(session)
    await visitor.composer.focus()
    await visitor.page.keyboard.type("By keyboard")
    await visitor.page.keyboard.press("Shift+Enter")
    await visitor.page.keyboard.type("on two lines")
    await visitor.page.keyboard.press("Enter")
    await visitor.settled()
    await expect(visitor.turn(1)).to_contain_text("on two lines")
    await visitor.button("More", visitor.turn(1)).focus()
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.page.get_by_role("menuitem").first).to_be_focused()
    await visitor.page.keyboard.press("ArrowDown")
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.button("More", visitor.turn(1))).to_be_focused()
    await visitor.button("Edit", visitor.turn(1)).focus()
    await visitor.page.keyboard.press("Enter")
    await expect(visitor.page.get_by_label("Edit your message")).to_be_focused()
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.page.get_by_label("Edit your message")).to_have_count(0)


async def test_colours_are_switched_and_kept(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open("system")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = await visitor.page.evaluate(ground)
    await visitor.page.get_by_role("button", name=re.compile("Colours: as the system")).click()
    await visitor.page.get_by_role("button", name=re.compile("Colours: light")).click()
    await expect(visitor.page.get_by_role("button", name=re.compile("Colours: dark"))).to_be_visible()
    dark = await visitor.page.evaluate(ground)
    assert light != dark
    await visitor.page.reload()
    assert await visitor.page.evaluate(ground) == dark


async def test_a_tools_turn_shows_its_calls_folded(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Calls")
    call = {"toolCall": {"callId": "a", "name": "roll_dice", "argumentsJson": '{"sides":6}'}}
    result = {"role": "ROLE_TOOL", "parts": [{"toolResult": {"callId": "a", "content": "4"}}]}
    output = [{"role": "ROLE_ASSISTANT", "parts": [call]}, result, message("ASSISTANT", "A four.")]
    await stage.post(f"/v1/sessions/{session}/floors", input=[message("USER", "Roll.")], output=output)
    await visitor.chat(session)
    await visitor.turn(1).get_by_text("Tool call").click()
    await expect(visitor.turn(1)).to_contain_text('"sides": 6')
    await expect(visitor.turn(1)).to_contain_text("A four.")


MARKDOWN = """# Title

Some **bold**, *slanted*, ~~struck~~ and `code`, 2 * 3 * 4, snake_case_name.

1. one
2. two
   - inner

| a | b |
|---|---|
| 1 | `2` |

> quoted

```js
const x = "<b>";
```

[a link](https://example.com/x?y=1), https://example.com/bare. ![a picture](https://example.com/p.png)
"""


async def test_markdown_becomes_elements_and_nothing_is_fetched(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Markdown")
    await stage.turn(session, "Show me.", MARKDOWN)
    await visitor.chat(session)
    answer = visitor.turn(1).locator(".output .markdown")
    await expect(answer.locator("h3")).to_have_text("Title")
    await expect(answer.locator("ol > li")).to_have_count(2)
    await expect(answer.locator("ol ul > li")).to_have_text("inner")
    await expect(answer.locator("table tbody td").last).to_have_text("2")
    await expect(answer.locator("blockquote")).to_have_text("quoted")
    await expect(answer.locator("pre code")).to_have_text('const x = "<b>";')
    for tag, text in (("strong", "bold"), ("em", "slanted"), ("del", "struck")):
        await expect(answer.locator(tag)).to_have_text(text)
    await expect(answer.get_by_text("2 * 3 * 4, snake_case_name.")).to_be_visible()
    links = answer.locator("a")
    assert await links.evaluate_all("all => all.map(e => [e.href, e.rel, e.textContent])") == [
        ["https://example.com/x?y=1", "noopener noreferrer nofollow", "a link"],
        ["https://example.com/bare", "noopener noreferrer nofollow", "https://example.com/bare"],
        ["https://example.com/p.png", "noopener noreferrer nofollow", "Picture: a picture"],
    ]
    await expect(answer.locator("img")).to_have_count(0)
