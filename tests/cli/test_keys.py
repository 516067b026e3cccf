"""`stemma keys` and the key that every command brings: on a service with access on, and on its database."""

import json
import re
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stemma_cli.dialling import api_key, dial
from stemma_cli.errors import UsageError

from tests.cli.programs import Done, in_process
from tests.support.service import SECRET_KEY, RunningService, running_service

SECRET = re.compile(r"stk_[A-Za-z0-9_-]{43}\n")


async def direct(url: str, *arguments: str) -> Done:
    """On the database, while no service has it."""
    where = ("--tenant", "acme", "--database-url", url)
    return await in_process("keys", *arguments, *where, STEMMA_SECRET_KEY=SECRET_KEY)


@pytest.fixture
async def admin(migrated_url: str) -> str:
    """The first key of the tenant `acme`."""
    made = await direct(migrated_url, "create", "-p", "ann", "--role", "owner", "--scope", "admin")
    assert (made.code, SECRET.fullmatch(made.out) is not None) == (0, True), made.err
    assert re.fullmatch(r"Key \S+: ann \(owner, admin\)\. It is shown this once\.\n", made.err)
    return made.out.strip()


@pytest.fixture
async def guarded(admin: str, migrated_url: str) -> AsyncIterator[RunningService]:
    async with running_service(migrated_url, auth="on") as running:
        yield running


async def test_keys_are_made_listed_and_ended_with_an_admins_key(guarded: RunningService, admin: str) -> None:
    def keys(*arguments: str, key: str = admin) -> Awaitable[Done]:
        return in_process("keys", *arguments, STEMMA_API_KEY=key, STEMMA_CONVERSATION=guarded.address)

    before = datetime.now(UTC)
    made = await keys("create", "-p", "bob", "--role", "contributor", "--expires", "30d", "--title", "CI")
    assert (made.code, SECRET.fullmatch(made.out) is not None) == (0, True), made.err
    bob = made.out.strip()
    answered = json.loads((await keys("list", "--json")).out)
    newest, first = answered["apiKeys"]
    assert (newest["principal"], newest["role"], newest["title"], newest["createdBy"]) == (
        *("bob", "MEMBER_ROLE_CONTRIBUTOR", "CI", "ann"),
    )
    left = datetime.fromisoformat(newest["expireTime"]) - before
    assert timedelta(days=30) <= left < timedelta(days=30, minutes=1)
    assert (first["principal"], first["createdBy"]) == ("ann", "operator")
    assert bob not in json.dumps(answered)
    shown = (await keys("list")).lines
    assert shown[0].startswith(f"{newest['apiKeyId']}  bob (contributor), 'CI'  expires ")

    denied = await keys("list", key=bob)
    assert (denied.code, denied.out) == (1, "")
    assert denied.err.endswith("(FORBIDDEN)\n")
    ended = await keys("revoke", newest["apiKeyId"])
    assert ended.out == f"Key {newest['apiKeyId']} is revoked: bob (contributor), 'CI'.\n"
    gone = await keys("list", key=bob)
    assert gone.err == (
        "error: The credential is not valid. Send an API key or a token that is valid now. "
        "Set STEMMA_API_KEY; make one: stemma keys create. (UNAUTHENTICATED)\n"
    )
    assert (await keys("list")).lines[0].split("  ")[-1].startswith("revoked ")
    whole = json.loads((await keys("create", "-p", "eve", "--json")).out)
    assert SECRET.fullmatch(whole["secret"] + "\n")


async def test_every_kind_of_call_brings_the_key(guarded: RunningService, admin: str, tmp_path: Path) -> None:
    """Unary ones, streams of answers, and streams of requests."""
    (tmp_path / "key").write_text(f"{admin}\n")
    (tmp_path / "log.jsonl").write_text('{"id": "1", "role": "user", "content": "I have fifteen apples."}\n')
    known = {"STEMMA_API_KEY_FILE": str(tmp_path / "key"), "STEMMA_CONVERSATION": guarded.address}
    said = await in_process("chat", "--new", lines=["Hello."], **known)
    assert said.code == 0, said.err
    landed = await in_process("import", str(tmp_path / "log.jsonl"), "--format", "log-jsonl", **known)
    assert landed.code == 0, landed.err
    assert len(json.loads((await in_process("sessions", "--json", **known)).out)["sessions"]) == 2
    nobody = await in_process("chat", "--new", lines=["Hello."], STEMMA_CONVERSATION=guarded.address)
    assert nobody.code == 1
    assert "stemma keys create" in nobody.err


async def test_what_direct_refuses(migrated_url: str, admin: str, tmp_path: Path) -> None:
    for arguments, code, told in (
        (("create", "-p", "", "--direct"), 1, "principal"),
        (("create", "-p", "x", "--expires", "3w"), 2, "30d is thirty days"),
        (("list", "--direct", "--database-url", "://"), 2, "is not a URL"),
        (("revoke", "no-key", "--direct", "--database-url", migrated_url), 1, "api_key_id"),
    ):
        done = await in_process("keys", *arguments, STEMMA_SECRET_KEY=SECRET_KEY, STEMMA_DATA=str(tmp_path))
        assert (done.code, done.out) == (code, ""), done
        assert told in done.err
    if migrated_url.startswith("sqlite"):
        async with running_service(migrated_url):
            busy = await direct(migrated_url, "list")
            assert "Another process uses" in busy.err
    nobodys = await in_process(
        "keys", "list", "--direct", "--database-url", migrated_url, STEMMA_SECRET_KEY=SECRET_KEY
    )
    assert nobodys.out == "There are no keys: `stemma keys create --direct` makes the first one.\n"


def test_where_the_key_comes_from(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(" stk_file\n")
    assert api_key({}) == ""
    assert api_key({"STEMMA_API_KEY_FILE": str(tmp_path / "key")}) == "stk_file"
    assert api_key({"STEMMA_API_KEY": "stk_env\n", "STEMMA_API_KEY_FILE": "/nowhere"}) == "stk_env"
    for bad in ({"STEMMA_API_KEY": "two words"}, {"STEMMA_API_KEY_FILE": "/nowhere"}):
        with pytest.raises(UsageError, match=next(iter(bad))):
            api_key(bad)


@pytest.mark.parametrize(
    ("address", "key", "warned"),
    [("models.lan:50051", "stk_x", True), ("127.0.0.1:1", "stk_x", False), ("models.lan:50051", "", False)],
)
def test_a_key_in_the_clear_is_warned_of(
    capsys: pytest.CaptureFixture[str], address: str, key: str, warned: bool
) -> None:
    with dial(address, {"STEMMA_API_KEY": key}):
        pass
    said = capsys.readouterr()
    assert (f"The key goes to {address} in the clear" in said.err) is warned
    assert said.out == ""
