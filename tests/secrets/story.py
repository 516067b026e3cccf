"""Secrets that nobody may see again, programs that have them, and calls that go well or badly with them."""

import base64
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message
from joserfc import jwk, jwt

from tests.generation.endpoint import SSE_HEAD, Exchange
from tests.rpc.plumbing import Answer
from tests.rpc.plumbing import Client as RawClient
from tests.support.client import DRAFT_METHODS, METHODS, answer_of, method_of, request_for, user

TENANT = "acme"
OF_A_TENANT = "sk-of-a-tenant-4f1dca11"
OF_THE_OPERATOR = "sk-of-the-operator-4f1dca11"
MASTER = base64.b64encode(b"canary of STEMMA_SECRET_KEY 4f1d").decode()
SERVICE_KEY = "stk_" + "service4f1dca11" + "x" * 28
# Credentials that let nobody in are nobody's to read either.
WRONG = "stk_" + "wrong4f1dca11" + "y" * 30


@dataclass
class Secrets:
    """By a name for each. `parts`: what of each is looked for."""

    found: dict[str, str] = field(
        default_factory=lambda: {
            "a tenant's model key": OF_A_TENANT,
            "the operator's model key": OF_THE_OPERATOR,
            "STEMMA_SECRET_KEY": MASTER,
            "STEMMA_SECRET_KEY's bytes": base64.b64decode(MASTER).decode(),
            "STEMMA_SERVICE_KEY": SERVICE_KEY,
            "a wrong key": WRONG,
        }
    )

    def seen_in(self, content: bytes) -> list[str]:
        return [name for name, secret in self.found.items() if secret.encode() in content]


class Issuer:
    """Of JWTs; its keys are in `jwks.json`."""

    def __init__(self, folder: Path) -> None:
        self._key = jwk.ECKey.generate_key("P-256", parameters={"kid": "k1"})
        (folder / "jwks.json").write_text(json.dumps({"keys": [self._key.as_dict(private=False)]}))

    def token(self, tenant: str = TENANT) -> str:
        """Of the tenant's owner and admin."""
        claims = {"iss": "https://issuer.example", "aud": "stemma", "exp": int(time.time()) + 600}
        whose = {"tenant": tenant, "sub": "somebody", "roles": ["owner", "admin"]}
        return jwt.encode({"alg": "ES256", "kid": "k1"}, claims | whose, self._key)


def environment(folder: Path, base_url: str) -> dict[str, str]:
    """For any of the programs, at its most talkative."""
    host = base_url.removeprefix("http://").removesuffix("/v1")
    return {
        "STEMMA_AUTH": "on",
        "STEMMA_LOG_LEVEL": "DEBUG",
        "STEMMA_DATA": str(folder),
        "STEMMA_SECRET_KEY": MASTER,
        "STEMMA_SERVICE_KEY": SERVICE_KEY,
        "STEMMA_PROVIDER": "openai",
        "STEMMA_OPENAI_BASE_URL": base_url,
        "STEMMA_OPENAI_API_KEY": OF_THE_OPERATOR,
        "STEMMA_MODEL": "m",
        "STEMMA_ALLOW_HOSTS": host,
        "STEMMA_JWT_ISSUER": "https://issuer.example",
        "STEMMA_JWT_AUDIENCE": "stemma",
        "STEMMA_JWT_JWKS": str(folder / "jwks.json"),
    }


async def repeats_its_key(exchange: Exchange) -> None:
    """A model's endpoint that answers well, or badly and then with the key that it was sent."""
    said = json.dumps(exchange.body)
    sent = exchange.headers.get("authorization", "")
    if "refuse" in said:
        body = json.dumps({"error": {"message": f"the key {sent} is not good", "type": sent, "code": sent}})
        await exchange.send(
            f"HTTP/1.1 401 No\r\nContent-Length: {len(body)}\r\nx-key: {sent}\r\n\r\n{body}".encode()
        )
    elif "garbage" in said:
        await exchange.send(SSE_HEAD + f"data: {sent} {{\n\n".encode())
    else:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="well")
        await exchange.finish(usage=(7, 3))


class Caller:
    """Calls with a credential, and keeps every byte that came back."""

    def __init__(self, channel: grpc.aio.Channel, credential: str) -> None:
        self._raw = RawClient(channel)
        self.credential = credential
        self.heard: list[bytes] = []

    def to(self, channel: grpc.aio.Channel) -> "Caller":
        """The same at another service."""
        other = Caller(channel, self.credential)
        other.heard = self.heard
        return other

    def bringing(self, credential: str) -> "Caller":
        other = Caller(self._raw.channel, credential)
        other.heard = self.heard
        return other

    async def ask(self, name: str, request: Message | bytes | None = None, **fields: Any) -> Answer:
        method = method_of(name)
        path = f"/{method.containing_service.full_name}/{method.name}"
        send = self._raw.stream if method.server_streaming else self._raw.unary
        given = request_for(name, **fields) if request is None else request
        metadata = (("authorization", f"Bearer {self.credential}"),)
        answer = await send(path, given, metadata=metadata, timeout=30.0)
        self.heard += [*answer.messages, answer.text.encode(), repr(answer.trailers).encode()]
        if answer.status is not None:
            self.heard.append(answer.status.SerializeToString())
        return answer

    async def call(self, name: str, **fields: Any) -> Any:
        """Its answer; fails when it has none."""
        answer = await self.ask(name, **fields)
        assert answer.messages, (name, answer)
        return answer_of(name, answer.messages[-1])


async def key_of(caller: Caller, **fields: Any) -> str:
    """A new API key's secret, in an answer that alone may show it."""
    before = len(caller.heard)
    made = await caller.call("CreateApiKey", principal="backend", **fields)
    del caller.heard[before:]
    return str(made.secret)


def own_model(base_url: str, **fields: Any) -> dict[str, Any]:
    return {"model": {"base_url": base_url, "api_key": OF_A_TENANT, "name": "m", **fields}}


async def story(caller: Caller, base_url: str) -> dict[str, str]:
    """What a tenant does with a model of its own; -> ids of what is there then."""
    project = (await caller.call("CreateProject", title="p", config=own_model(base_url))).project.project_id
    session = (
        await caller.call("CreateSession", project_id=project, config=own_model(base_url))
    ).session.session_id
    plain = (await caller.call("CreateSession", title="plain")).session.session_id
    for where, text in ((session, "hello"), (plain, "hello"), (session, "refuse"), (session, "garbage")):
        await caller.ask("Respond", session_id=where, input={"messages": [user(text)]}, on_pending=2)
    await caller.ask("Respond", session_id=plain, input={"messages": [user("refuse")]})
    ids = {"project_id": project, "session_id": session}
    for name, fields in (
        ("GetProject", {"project_id": project}),
        ("GetEffectiveConfig", {"session_id": session}),
        ("ListConfigVersions", {"session_id": session}),
        ("GetSession", {"session_id": session}),
        ("AssembleContext", {"session_id": session}),
        ("ExportSession", {"session_id": session, "format": "stemma"}),
        ("ListEvents", {"project_id": project}),
        ("ListAuditEntries", {}),
        ("ListApiKeys", {}),
        ("GetTree", {"session_id": session}),
    ):
        await caller.call(name, **fields)
    return ids


async def things_go_wrong(caller: Caller, ids: dict[str, str], base_url: str, names: list[str]) -> set[str]:
    """Calls that fail, with secrets wherever a caller may put them; -> the codes that came."""
    codes = set()
    bad = [
        {**own_model("http://169.254.169.254/v1")},
        {**own_model("file:///etc/passwd")},
        {"model": {"api_key": OF_A_TENANT + "\n"}},
        {"model": {"base_url": base_url, "api_key": OF_A_TENANT * 1_000}},
        {**own_model(base_url, temperature=-5)},
        {**own_model(base_url, extra_json='{"k": ' + OF_A_TENANT)},
    ]
    for config in bad:
        mask = {"paths": ["config"]}
        answer = await caller.ask(
            "UpdateProject", project_id=ids["project_id"], config=config, update_mask=mask
        )
        codes.add(answer.code.name)
        codes.add((await caller.ask("Respond", session_id=ids["session_id"], overrides=config)).code.name)
    for name in names:
        for request in (b"", OF_A_TENANT.encode(), request_for(name)):
            codes.add((await caller.ask(name, request)).code.name)
        codes.add((await caller.bringing(WRONG).ask(name)).code.name)
    reused = str(uuid.uuid4())
    for number in range(2):
        answer = await caller.ask(
            "CreateProject", title=str(number), config=own_model(base_url), request_id=reused
        )
        codes.add(answer.code.name)
    codes.add((await caller.ask("GetSession", session_id=str(uuid.uuid4()))).code.name)
    for page_token in (OF_A_TENANT, WRONG):
        codes.add((await caller.ask("ListProjects", page_token=page_token)).code.name)
    return codes


async def draft_story(caller: Caller, ids: dict[str, str], base_url: str) -> str:
    """A draft with a model of its own, that answers well and badly; -> its id"""
    wanted = {"session_id": ids["session_id"], "purpose": "to look", "config": own_model(base_url)}
    draft_id: str = (await caller.call("draft.CreateDraft", **wanted)).draft.draft_id
    for text in ("hello", "refuse", "garbage"):
        await caller.ask("draft.Respond", draft_id=draft_id, input={"messages": [user(text)]}, on_pending=2)
    await caller.call("draft.GetDraft", draft_id=draft_id)
    await caller.call("draft.GetTranscript", draft_id=draft_id, include_snapshot=True)
    return draft_id


async def drafts_go_wrong(caller: Caller, draft_id: str, names: list[str]) -> set[str]:
    codes = set()
    for name in names:
        for request in (b"", OF_A_TENANT.encode(), request_for(name)):
            codes.add((await caller.ask(name, request)).code.name)
        codes.add((await caller.bringing(WRONG).ask(name)).code.name)
    bad = own_model("http://169.254.169.254/v1")
    codes.add((await caller.ask("draft.Respond", draft_id=draft_id, overrides=bad)).code.name)
    return codes


@asynccontextmanager
async def channel(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(address) as opened:
        yield opened


CALLS = [name for name, method in METHODS.items() if not method.client_streaming and name != "WatchEvents"]
DRAFT_CALLS = list(DRAFT_METHODS)
