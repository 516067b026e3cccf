"""`stemma up` with access on, end to end as its user: a key from the first start, and nothing without it."""

import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio
from stemma_cli.running.access import first_key

from tests.cli.programs import stemma
from tests.cli.test_up import children, settings
from tests.support.processes import Running, stemma_up

USER = {"role": "ROLE_USER", "parts": [{"text": {"text": "I have fifteen apples."}}]}


@pytest_asyncio.fixture
async def up(tmp_path: Path) -> AsyncIterator[Running]:
    async with stemma_up(settings(tmp_path, STEMMA_AUTH="on")) as program:
        yield program


class Caller:
    """REST as `curl` would do it, with a key or without."""

    def __init__(self, url: str, key: str = "") -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=30.0, trust_env=False)

    async def post(self, path: str, **body: Any) -> Any:
        answer = await self.http.post(f"/v1/{path}", json={"requestId": str(uuid.uuid4()), **body})
        assert answer.status_code == 200, answer.text
        return answer.json()


async def test_from_the_first_key_to_an_accepted_draft(up: Running, tmp_path: Path) -> None:
    await up.line("^Access is on: whoever calls brings an API key or a token")
    key = (await up.line(r"^  export STEMMA_API_KEY=(stk_[A-Za-z0-9_-]{43})$"))[1]
    await up.line(r'^  begin over REST +curl \S+ -H "authorization: Bearer \$STEMMA_API_KEY" -H ')
    url, address = up.addresses["gateway"], up.addresses["conversation_service"]
    caller, nobody = Caller(url, key), Caller(url)
    async with caller.http, nobody.http:
        session = (await caller.post("sessions", title="Apples"))["session"]["sessionId"]
        refused = await nobody.http.get(f"/v1/sessions/{session}")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        unknown = await nobody.http.get(
            f"/v1/sessions/{session}", headers={"authorization": f"Bearer stk_{'x' * 43}"}
        )
        assert unknown.status_code == 401
        draft = (await caller.post(f"sessions/{session}/drafts", purpose="a beginning"))["draft"]["draftId"]
        await caller.post(f"drafts/{draft}:respond", input={"messages": [USER]})
        export = await caller.post(
            f"drafts/{draft}:export", target={"placement": "PLACEMENT_NEXT_FLOOR"}, parts=[{"outputPage": {}}]
        )
        entry = await caller.post(f"stagedWrites/{export['stagedWriteId']}:accept", reason="Good.")
        assert entry["stagedWrite"]["state"] == "STAGED_WRITE_STATE_ACCEPTED"
        path = (await caller.http.get(f"/v1/sessions/{session}/path")).json()
        assert len(path["floors"]) == 1

    # The command line, with the same key, and keys for others.
    made = await stemma(
        "keys", "create", "-p", "reader", "--role", "observer", "--address", address, STEMMA_API_KEY=key
    )
    assert (made.code, len(made.lines)) == (0, 1), made.err
    reader = {"STEMMA_API_KEY": made.lines[0], "STEMMA_CONVERSATION": address}
    assert session in (await stemma("sessions", **reader)).out
    denied = await stemma("keys", "list", **reader)
    assert denied.code == 1
    assert re.search(r"takes the scope admin\. .*use another key\. \(FORBIDDEN\)$", denied.err.strip())
    without = await stemma("sessions", STEMMA_CONVERSATION=address)
    assert without.code == 1
    assert "Set STEMMA_API_KEY; make one: stemma keys create." in without.err
    assert not seen(key, up, tmp_path)


def seen(key: str, up: Running, data: Path) -> list[Path]:
    """Where the key can be read: in a file that is kept, or in what a service was started with."""
    started = [Path(f"/proc/{pid}/environ") for pid in children(up.pid).values()]
    assert len(started) == 3
    kept = [file for file in data.rglob("*") if file.is_file()]
    assert kept
    return [file for file in (*started, *kept) if key.encode() in file.read_bytes()]


def test_only_the_first_start_makes_a_key(tmp_path: Path) -> None:
    """And none does where tokens let people in."""
    place = {"STEMMA_DATA": str(tmp_path)}
    assert first_key(place | {"STEMMA_JWT_ISSUER": "https://issuer.example"}) == ""
    assert re.fullmatch("stk_[A-Za-z0-9_-]{43}", first_key(place))
    assert first_key(place) == ""
