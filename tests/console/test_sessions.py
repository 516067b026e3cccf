"""Conversations as a whole: find, create, import, export; and what needs a key."""

import json
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.console.stage import Theatre, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOG = [
    {"id": "1", "role": "user", "content": "I have fifteen apples."},
    {"id": "2", "role": "assistant", "content": "Fifteen it is."},
    {"id": "3", "role": "user", "content": "I have fifty apples.", "edits": "1"},
    {"id": "4", "role": "assistant", "content": "Fifty it is."},
]


async def test_create_find_rename_archive_and_delete(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open()
    await visitor.button("New").first.click()
    await visitor.page.get_by_label("Title", exact=True).fill("Quinces and pears")
    await visitor.button("Create").click()
    await expect(visitor.page.get_by_role("heading", name="Quinces and pears")).to_be_visible()
    await visitor.say("Tell me of medlars.")
    await visitor.open()
    rows = visitor.page.get_by_role("list", name="Conversations").get_by_role("listitem")
    search = visitor.page.get_by_label("Search titles and messages")
    await search.fill("quinces")
    await expect(rows).to_have_count(1)
    await rows.get_by_role("button", name="Menu of Quinces and pears").click()
    await visitor.page.get_by_role("menuitem", name="Rename…").click()
    await visitor.page.get_by_label("Title", exact=True).fill("Old fruit")
    await visitor.button("Save").click()
    await expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    await search.fill("old fruit")
    await expect(rows.get_by_role("link", name="Old fruit")).to_be_visible()
    await rows.get_by_role("button", name="Menu of Old fruit").click()
    await visitor.page.get_by_role("menuitem", name="Archive").click()
    await expect(rows).to_have_count(0)
    await visitor.page.get_by_role("combobox").select_option("Archived")
    await rows.get_by_role("button", name="Menu of Old fruit").click()
    await visitor.page.get_by_role("menuitem", name="Delete…").click()
    await visitor.button("Delete it").click()
    await expect(rows).to_have_count(0)


async def test_messages_are_found_wherever_they_stand(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Found")
    await stage.turn(session, "the zanzibar question", "a quiet answer")
    while not (await stage.get("/v1/messages:search", projectId="default", query="zanzibar"))["hits"]:
        pass  # the index follows the feed
    await visitor.open()
    found = visitor.page.get_by_role("region", name="Messages found")
    async with visitor.page.expect_response(lambda one: ":search" in one.url):
        await visitor.page.get_by_label("Search titles and messages").fill("zanzibar")
    await expect(found.get_by_role("link").first).to_contain_text("zanzibar question")
    await found.get_by_role("link").first.click()
    await expect(visitor.turn(1)).to_contain_text("a quiet answer")


async def test_a_dropped_file_is_imported_with_a_report_and_exported_again(
    stage: Theatre, visitor: Visitor, tmp_path: Path
) -> None:
    await visitor.open()
    text = "\n".join(map(json.dumps, LOG))
    drop = await visitor.page.evaluate_handle(
        """text => { const held = new DataTransfer();
             held.items.add(new File([text], "apples.jsonl", {type: "application/jsonl"})); return held; }""",
        text,
    )
    await visitor.page.dispatch_event("main", "dragover", {"dataTransfer": drop})
    await expect(visitor.page.get_by_text("Drop files to import them")).to_be_visible()
    await visitor.page.dispatch_event("main", "drop", {"dataTransfer": drop})
    dialog = visitor.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Format")).to_have_value("log-jsonl")
    await visitor.button("Import", dialog).click()
    await expect(dialog.locator(".report")).to_contain_text("2 turns, 4 messages")
    await expect(dialog.locator(".report")).to_contain_text("As a log it would have sent")
    await dialog.locator(".report a").click()
    await expect(visitor.turn(1)).to_contain_text("Fifty it is.")
    await expect(visitor.turn(1).get_by_role("group", name="Versions of the message")).to_contain_text("2/2")

    await (
        visitor.page.get_by_role("banner")
        .or_(visitor.page.locator("header.bar"))
        .get_by_role("button", name="Menu of")
        .click()
    )
    await visitor.page.get_by_role("menuitem", name="Export…").click()
    await visitor.page.get_by_label("Plain log").check()
    async with visitor.page.expect_download() as download:
        await visitor.button("Download").click()
    saved = tmp_path / "log.jsonl"
    await (await download.value).save_as(saved)
    assert "fifty" in saved.read_text("utf-8")


async def test_a_bad_file_is_told_with_what_to_do(stage: Theatre, visitor: Visitor) -> None:
    await visitor.open()
    bad = {"name": "notes.json", "mimeType": "application/json", "buffer": b"{this is no conversation"}
    await visitor.page.locator(".file-picker").set_input_files([bad])  # type: ignore[list-item]
    dialog = visitor.page.get_by_role("dialog")
    await visitor.button("Import", dialog).click()
    await expect(dialog.locator(".report")).to_contain_text("Line 1: is not JSON")


async def test_a_server_that_wants_a_key_leads_to_the_field_and_gets_it(
    stage: Theatre, visitor: Visitor
) -> None:
    """The answer of a server with authentication on; the gateway here has it off."""
    sent: list[str] = []

    async def guard(route: Route) -> None:
        key = route.request.headers.get("authorization", "")
        sent.append(key)
        if key == "Bearer right":
            await route.continue_()
            return
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "UNAUTHENTICATED",
            "domain": "stemma",
        }
        body = {"code": 16, "message": "There is no valid credential.", "details": [info]}
        await route.fulfill(status=401, json=body)

    session = await stage.session("Behind a door", turns=1)
    await visitor.page.route("**/v1/**", guard)
    visitor.faults.expect("refused: 401 GET /v1/sessions")
    await visitor.open(f"s/{session}/chat")
    await expect(visitor.page.get_by_role("alert")).to_contain_text("wants to know who you are")
    await visitor.page.get_by_label("Key", exact=True).fill("right")
    await visitor.button("Use this key").click()
    await expect(visitor.turn(1)).to_contain_text("answer 1")
    assert "Bearer right" in sent
    stored = await visitor.page.evaluate("() => [localStorage.length, sessionStorage.getItem('stemma.key')]")
    assert stored == [0, "right"]
    await visitor.page.reload()
    await expect(visitor.turn(1)).to_contain_text("answer 1")
