"""Drafts, and the one door out of them."""

import re

import pytest
from playwright.async_api import expect

from tests.console.stage import Theatre, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_three_candidates_one_exported_accepted_and_seen_as_a_sibling(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Replies", turns=1)
    stage.part("user 1", {"text": "A dry reply."}, {"text": "A warm reply."}, {"text": "A long reply."})
    await visitor.chat(session)
    await visitor.more(visitor.turn(1), "Draft from here…")
    await visitor.page.get_by_label("Purpose").fill("Other replies")
    await visitor.button("Begin").click()

    await visitor.button("Write three candidates").click()
    candidates = visitor.page.locator("section.candidate")
    await expect(candidates).to_have_count(3)
    await visitor.button("Choose this one", candidates.filter(has_text="warm")).click()
    await visitor.settled()
    # Nothing of it is in canon.
    assert len((await stage.get(f"/v1/sessions/{session}/tree"))["floors"]) == 2

    await visitor.more(visitor.turn(-1), "Export this answer…")
    await visitor.page.get_by_label("Reason").fill("It is kinder.")
    await visitor.button("Export").click()
    await expect(visitor.page.get_by_role("heading", name="Another answer to a turn")).to_be_visible()
    await expect(visitor.page.locator("article.entry")).to_contain_text("A warm reply.")
    assert len((await stage.get(f"/v1/sessions/{session}/tree"))["floors"]) == 2

    await visitor.page.get_by_label("Reason").fill("Agreed.")
    await visitor.button("Accept").click()
    await expect(visitor.page.get_by_role("region", name="Decision")).to_contain_text("Agreed.")
    await visitor.chat(session)
    await expect(visitor.turn(1)).to_contain_text("A warm reply.")
    await expect(visitor.page.get_by_role("group", name="Versions of the answer")).to_contain_text("2/2")


async def test_an_entry_is_rejected_with_a_reason_and_stays_in_the_history(
    stage: Theatre, visitor: Visitor
) -> None:
    session = await stage.session("Refused", turns=1)
    entry = await staged(stage, session, "Please look.")
    await visitor.open(f"s/{session}/ledger")
    await visitor.page.get_by_role("link", name="Please look.").click()
    await visitor.button("Reject…").click()
    dialog = visitor.page.get_by_role("dialog")
    await dialog.get_by_label("Reason").fill("Not now.")
    await visitor.button("Reject", dialog).click()
    await expect(visitor.page.get_by_role("region", name="Decision")).to_contain_text("Not now.")
    await visitor.open(f"s/{session}/ledger")
    await expect(visitor.page.get_by_role("heading", name="Nothing waits")).to_be_visible()
    await visitor.button("Rejected").click()
    await expect(visitor.page.get_by_role("list", name="Entries")).to_contain_text("Not now.")
    assert (await stage.get(f"/v1/stagedWrites/{entry}"))["stagedWrite"][
        "state"
    ] == "STAGED_WRITE_STATE_REJECTED"


async def test_accepting_what_is_stale_is_a_decision_of_its_own(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Stale", turns=1)
    entry = await staged(stage, session, "The next turn.", placement="PLACEMENT_NEXT_FLOOR")
    await stage.turn(session, "meanwhile", "something else")
    await visitor.open(f"ledger/{entry}")
    await expect(visitor.page.get_by_text("The target moved since this was drafted.")).to_be_visible()
    await visitor.page.get_by_label("Reason").fill("Still good.")
    visitor.faults.expect(f"refused: 400 POST /v1/stagedWrites/{entry}:accept")
    await visitor.button("Accept").click()
    await expect(visitor.page.get_by_role("alert")).to_contain_text("STALE")
    await visitor.page.get_by_label("Accept it though the target moved").check()
    await visitor.button("Accept").click()
    await expect(visitor.page.get_by_role("region", name="Decision")).to_contain_text(
        "though the target had moved"
    )


async def test_a_draft_expires_on_screen(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open("drafts")
    await visitor.button("Draft from the project").click()
    dialog = visitor.page.get_by_role("dialog")
    await dialog.get_by_label("Purpose").fill("A short life")
    await dialog.get_by_label("Only for a set time").check()
    await dialog.get_by_label("Seconds to live").fill("2")
    await visitor.button("Begin", dialog).click()
    await expect(visitor.composer).to_be_visible()
    await expect(visitor.page.locator(".countdown")).to_contain_text("left")
    await expect(visitor.page.get_by_text("This draft is expired.")).to_be_visible()
    await expect(visitor.composer).to_have_count(0)


async def test_a_draft_is_discarded_with_a_reason(stage: Theatre, visitor: Visitor) -> None:
    made = await stage.post("/v1/projects/default/drafts", purpose="Useless")
    await visitor.open(f"d/{made['draft']['draftId']}")
    await visitor.say("Think of something.")
    await visitor.button("End the draft").click()
    await visitor.page.get_by_role("menuitem", name="Discard…").click()
    await visitor.page.get_by_label(re.compile("Reason")).fill("Nothing came of it.")
    await visitor.button("Discard").click()
    await expect(visitor.page.get_by_text("This draft is discarded.")).to_be_visible()
    await expect(visitor.page.get_by_text("Nothing came of it.")).to_be_visible()
    await expect(visitor.turn(1)).to_contain_text("Think of something.")


async def staged(
    stage: Theatre, session: str, reason: str, placement: str = "PLACEMENT_OUTPUT_OF_FLOOR"
) -> str:
    """An entry exported from a draft of the session; its id."""
    draft = (await stage.post(f"/v1/sessions/{session}/drafts", purpose="test"))["draft"]["draftId"]
    text = {"role": "ROLE_USER", "parts": [{"text": {"text": "Say more."}}]}
    await stage.post(f"/v1/drafts/{draft}:respond", input={"messages": [text]})
    target = {"placement": placement}
    exported = await stage.post(
        f"/v1/drafts/{draft}:export", target=target, parts=[{"outputPage": {}}], reason=reason
    )
    return str(exported["stagedWriteId"])
