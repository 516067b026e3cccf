"""The story that the console exists for, in a real browser."""

import re

import pytest
from playwright.async_api import expect

from tests.console.stage import Theatre, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_fifteen_becomes_fifty_and_the_model_never_hears_of_fifteen(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Apples")
    await visitor.chat(session)
    await visitor.say("I have fifteen apples.")
    await expect(visitor.turn(1)).to_contain_text("You said: I have fifteen apples.")

    await visitor.button("Edit", visitor.turn(1)).click()
    editor = visitor.page.get_by_label("Edit your message")
    await expect(editor).to_be_focused()
    await editor.fill("I have fifty apples.")
    await editor.press("Enter")
    await visitor.settled()
    await expect(visitor.turn(1)).to_contain_text("You said: I have fifty apples.")
    await expect(visitor.turn(1).get_by_role("group", name="Versions of the message")).to_contain_text("2/2")

    await visitor.page.get_by_role("link", name="Tree").click()
    struck = visitor.page.get_by_role("treeitem", name=re.compile("fifteen.*abandoned"))
    await expect(struck).to_be_visible()
    assert "line-through" in await struck.locator("text.title").evaluate(
        "e => getComputedStyle(e).textDecoration"
    )
    await expect(
        visitor.page.get_by_role("treeitem", name=re.compile("fifty.*on the active path"))
    ).to_be_visible()

    await visitor.page.get_by_role("link", name="Context").click()
    sent = visitor.page.get_by_role("list", name="Messages, in order")
    await expect(sent).to_contain_text("I have fifty apples.")
    await expect(sent).not_to_contain_text("fifteen")
    await expect(visitor.page.locator(".key.abandoned")).not_to_have_text("0 token tax avoided")


async def test_regenerate_switch_back_and_roll_back(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Versions", turns=2)
    stage.part("user 1", {"text": "Another first answer."})
    await visitor.chat(session)
    await visitor.button("Regenerate", visitor.turn(1)).click()
    await visitor.settled()
    versions = visitor.turn(1).get_by_role("group", name="Versions of the answer")
    await expect(versions).to_contain_text("2/2")
    await expect(visitor.turn(1)).to_contain_text("Another first answer.")
    await expect(visitor.page.locator("article.turn")).to_have_count(1)

    await visitor.button("Previous version of the answer").click()
    await expect(versions).to_contain_text("1/2")
    # Away and back: what stood below is there again.
    await expect(visitor.turn(2)).to_contain_text("answer 2")

    await visitor.more(visitor.turn(1), "Roll back to here")
    await expect(visitor.page.locator("article.turn")).to_have_count(1)
    assert len((await stage.get(f"/v1/sessions/{session}/path"))["floors"]) == 1

    await visitor.more(visitor.turn(1), "Edit the answer")
    editor = visitor.page.get_by_label("Edit the answer")
    await editor.fill("A better answer.")
    await editor.press("Enter")
    await expect(versions).to_contain_text("3/3")
    await expect(visitor.turn(1)).to_contain_text("A better answer.")


async def test_candidates_side_by_side_wait_for_a_choice_over_a_reload(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Colours")
    stage.part("Name a colour.", {"text": "Red."}, {"text": "Green."}, {"text": "Blue."})
    await visitor.chat(session)
    await visitor.page.get_by_label("Answers").select_option("3")
    await visitor.composer.fill("Name a colour.")
    await visitor.button("Send").click()
    candidates = visitor.page.locator("section.candidate")
    await expect(candidates).to_have_count(3)
    await visitor.page.reload()
    await expect(candidates).to_have_count(3)
    await expect(visitor.composer).to_be_disabled()
    await visitor.button("Choose this one", candidates.filter(has_text="Green.")).click()
    await visitor.settled()
    await expect(visitor.turn(-1)).to_contain_text("Green.")
    await expect(visitor.composer).to_be_enabled()


async def test_a_reload_in_mid_stream_goes_on_without_doubling(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Story")
    part = stage.part("Tell me.", {"deltas": ["Once ", "upon ", "a ", "time."]}, hold_at=2)
    await visitor.chat(session)
    await visitor.composer.fill("Tell me.")
    await visitor.composer.press("Enter")
    answer = visitor.page.locator("article.turn .output .message")
    await expect(answer).to_contain_text("Once upon")
    await visitor.page.reload()
    await expect(answer).to_contain_text("Once upon")
    await expect(visitor.page.locator("article.turn")).to_have_count(1)
    part.go()
    await visitor.settled()
    assert (await answer.locator(".markdown").inner_text()).strip() == "Once upon a time."
    assert len((await stage.get(f"/v1/sessions/{session}/path"))["floors"]) == 1


async def test_a_broken_connection_is_resumed_after_the_last_frame(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Offline")
    part = stage.part("Tell me slowly.", {"deltas": ["One ", "two ", "three."]}, hold_at=2)
    await visitor.chat(session)
    await visitor.composer.fill("Tell me slowly.")
    await visitor.composer.press("Enter")
    answer = visitor.page.locator("article.turn .output .message")
    await expect(answer).to_contain_text("One two")
    visitor.faults.expect(f"failed: POST {stage.url}/v1/sessions/{session}:respond", "failed: GET")
    async with visitor.page.expect_request(re.compile(r"/v1/runs/[^/]+/events")) as attached:
        stage.network.cut()
    part.go()
    await visitor.settled()
    assert (await attached.value).headers["last-event-id"]
    assert (await answer.locator(".markdown").inner_text()).strip() == "One two three."


async def test_two_windows_move_one_head_and_the_second_is_told(
    stage: Theatre, visitor: Visitor, other: Visitor
) -> None:
    session = await stage.session("Shared", turns=3)
    await visitor.chat(session)
    await other.chat(session)
    # The feed would tell the other window; here the refused call does.
    await other.page.route("**/events:watch*", lambda route: route.abort("aborted"))
    await other.page.reload()
    await expect(other.turn(3)).to_be_visible()
    # A window behind another one draws seldom.
    await visitor.page.bring_to_front()
    await visitor.more(visitor.turn(2), "Roll back to here")
    await expect(visitor.page.locator("article.turn")).to_have_count(2)

    visitor.faults.expect(f"refused: 409 POST /v1/sessions/{session}/branches/main:moveHead")
    await other.page.bring_to_front()
    await other.more(other.turn(1), "Roll back to here")
    await expect(other.page.get_by_role("alert")).to_contain_text("Somebody else moved this head")
    await expect(other.page.locator("article.turn")).to_have_count(3)
    await other.button("Look at the new head").click()
    await expect(other.page.locator("article.turn")).to_have_count(2)
    await expect(other.page.get_by_role("alert")).to_have_count(0)


async def test_the_feed_tells_a_window_that_another_one_has_moved_the_head(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Watched", turns=1)
    async with visitor.page.expect_response(re.compile("events:watch")):
        await visitor.chat(session)
    await stage.turn(session, "from elsewhere", "an answer")
    await expect(visitor.page.get_by_role("alert")).to_contain_text("Somebody else moved this head")
    await visitor.button("Look at the new head").click()
    await expect(visitor.turn(2)).to_contain_text("from elsewhere")


async def test_a_failed_turn_says_why_and_can_be_retried(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Failures")
    failing = {"text": "Half an ans", "fail": {"reason": "PROVIDER_UNAVAILABLE", "after": 2}}
    stage.part("Will it work?", failing, {"text": "This time it does."})
    await visitor.chat(session)
    await visitor.composer.fill("Will it work?")
    await visitor.composer.press("Enter")
    failed = visitor.page.get_by_label("Failed turn")
    await expect(failed).to_contain_text("The model could not be reached.")
    await expect(failed).to_contain_text("Half an")
    await visitor.page.reload()
    await visitor.button("Retry", failed).click()
    await visitor.settled()
    await expect(visitor.turn(-1)).to_contain_text("This time it does.")
    await expect(failed).to_have_count(0)


async def test_stopping_keeps_what_was_written(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Stopping")
    stage.part("Talk for ever.", {"deltas": ["On ", "and ", "on "], "hang_after": 2})
    await visitor.chat(session)
    await visitor.composer.fill("Talk for ever.")
    await visitor.composer.press("Enter")
    await expect(visitor.turn(1)).to_contain_text("On and")
    await visitor.button("Stop").click()
    await visitor.settled()
    await expect(visitor.turn(1)).to_contain_text("Stopped early")
    await expect(visitor.turn(1)).to_contain_text("On and")


async def test_a_server_that_is_away_is_waited_for_and_nothing_is_sent_twice(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Away")
    await visitor.chat(session)
    visitor.faults.expect(f"failed: POST {stage.url}/v1/sessions/{session}:respond")
    # Whether an open stream notices depends on the browser.
    visitor.faults.allow(f"failed: GET {stage.url}/v1/projects/")
    await visitor.context.set_offline(True)
    await visitor.composer.fill("Are you there?")
    await visitor.composer.press("Enter")
    await expect(visitor.page.get_by_text("The connection broke.")).to_be_visible()
    await visitor.context.set_offline(False)
    await visitor.settled()
    await expect(visitor.turn(1)).to_contain_text("You said: Are you there?")
    assert len((await stage.get(f"/v1/sessions/{session}/tree"))["floors"]) == 2
