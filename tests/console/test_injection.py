"""Texts of others stay texts, in every field that is shown."""

import asyncio
import json
import re
import uuid

import pytest
from playwright.async_api import Route, expect

from tests.console.payloads import PAYLOADS
from tests.console.stage import Theatre, Visitor, json_text, message

pytestmark = pytest.mark.asyncio(loop_scope="session")
assert len(set(PAYLOADS)) == 60
# For fields beside those of the promise.
SOME = PAYLOADS[::4]

# What no text may have made.
MADE = (
    "script, iframe, object, embed, link, style, base, meta, form[action], video, audio, "
    "img[src^=http], [onerror], [onload], [onclick], [srcdoc]"
)
JUDGE = """made => ({
    owned: window.owned,
    made: [...document.querySelectorAll(`main :is(${made})`)].map(e => e.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll("main a[href]")].map(e => e.getAttribute("href")),
    rels: [...document.querySelectorAll("main a[target=_blank]")].map(e => e.rel),
})"""
SAFE_LINK = re.compile(r"#|https?://|/openapi\.json")


async def judge(visitor: Visitor) -> None:
    found = await visitor.page.evaluate(JUDGE, MADE)
    assert found["owned"] is None
    assert found["made"] == []
    assert [one for one in found["links"] if not SAFE_LINK.match(one)] == []
    assert all("noopener" in one and "noreferrer" in one for one in found["rels"])


def hostile(payload: str) -> dict[str, object]:
    """A turn that carries a payload wherever a turn can carry text."""
    call = {"callId": "c1", "name": payload[:64], "argumentsJson": json_text({"x": payload})}
    answer = {
        "role": "ROLE_ASSISTANT",
        "name": payload[:64],
        "parts": [{"reasoning": {"text": payload}}, {"text": {"text": payload}}, {"toolCall": call}],
    }
    result = {"role": "ROLE_TOOL", "parts": [{"toolResult": {"callId": "c1", "content": payload}}]}
    file = {"uri": "javascript:window.owned=1", "mediaType": "image/png", "name": payload[:64]}
    last = {"role": "ROLE_ASSISTANT", "parts": [{"file": file}]}
    return {
        "input": [message("USER", payload)],
        "output": [answer, result, last],
        "effects": {
            "variables": [{"key": "x", "valueJson": json.dumps(payload)}],
            "memory": [
                {"op": "MEMORY_OP_ADD", "kind": "MEMORY_KIND_FACT", "text": payload, "importance": 0.5}
            ],
        },
    }


async def test_messages_tools_results_names_and_state(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Hostile")
    for payload in PAYLOADS:
        await stage.post(f"/v1/sessions/{session}/floors", **hostile(payload))
    await visitor.chat(session)
    await visitor.button("Earlier turns").click()
    await expect(visitor.page.locator("article.turn")).to_have_count(len(PAYLOADS))
    await visitor.page.evaluate("() => document.querySelectorAll('details').forEach(e => (e.open = true))")
    await expect(visitor.turn(1)).to_contain_text(PAYLOADS[0])
    await judge(visitor)
    await visitor.open(f"s/{session}/tree")
    await visitor.page.get_by_role("treeitem").last.click()
    await expect(visitor.page.locator(".detail .message").first).to_be_visible()
    await judge(visitor)
    await visitor.open(f"s/{session}/context")
    await expect(visitor.page.get_by_role("list", name="Messages, in order")).to_contain_text(PAYLOADS[2])
    await judge(visitor)


async def test_titles_purposes_and_reasons(stage: Theatre, visitor: Visitor) -> None:
    sessions = await asyncio.gather(*(stage.session(payload[:200]) for payload in PAYLOADS))
    await asyncio.gather(
        *(stage.post("/v1/projects/default/drafts", purpose=payload[:120]) for payload in SOME)
    )
    entries = await asyncio.gather(*(stage_write(stage, sessions[0], payload) for payload in SOME))
    await visitor.open()
    await expect(visitor.page.locator("main .card")).not_to_have_count(0)
    await visitor.button("More").click()
    await expect(visitor.page.locator("main").get_by_text(PAYLOADS[0]).first).to_be_visible()
    await judge(visitor)
    await visitor.page.get_by_label("Search titles and messages").fill("owned")
    await expect(visitor.page.get_by_role("region", name="Messages found")).to_contain_text("found")
    await judge(visitor)
    for place in ("drafts", f"s/{sessions[0]}/ledger"):
        await visitor.open(place)
        await expect(visitor.page.locator("main .card").first).to_be_visible()
        await judge(visitor)
    for entry in (entries[1], entries[-1]):
        await visitor.open(f"ledger/{entry}")
        await expect(visitor.button("Accept")).to_be_visible()
        await judge(visitor)
    await visitor.open("feed")
    await expect(visitor.page.locator(".event").first).to_be_visible()
    await judge(visitor)


async def stage_write(stage: Theatre, session: str, payload: str) -> str:
    target = {"sessionId": session, "branch": "main", "placement": "PLACEMENT_NEXT_FLOOR"}
    parts = [{"outputPage": {"output": [message("ASSISTANT", payload)]}}]
    made = await stage.post("/v1/stagedWrites", target=target, parts=parts, reason=payload)
    return str(made["stagedWrite"]["stagedWriteId"])


async def test_what_a_server_says_went_wrong(stage: Theatre, visitor: Visitor) -> None:
    ids = {str(uuid.uuid4()): payload for payload in PAYLOADS}

    async def refuse(route: Route) -> None:
        payload = next((text for one, text in ids.items() if one in route.request.url), "")
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": payload,
            "metadata": {"error_id": payload},
        }
        bad = {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": payload, "description": payload}] * 2,
        }
        await route.fulfill(status=400, json={"code": 3, "message": payload, "details": [info, bad]})

    await visitor.page.route("**/v1/stagedWrites/*", refuse)
    visitor.faults.expect("refused: 400 GET /v1/stagedWrites/")
    await visitor.open("ledger")
    for one, payload in ids.items():
        await visitor.page.evaluate("id => (location.hash = `#/ledger/${id}`)", one)
        await expect(visitor.page.get_by_role("alert").locator("strong")).to_have_text(payload)
        await judge(visitor)
