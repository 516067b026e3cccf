"""Both services with access on, and callers of every kind.

Project P is the tenant's default one: `observer`, `contributor` and `owner` are its members, `elsewhere` owns
another project of the same tenant, `stranger` owns everything of another tenant.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from conversation_service.app.keys import make_first_key
from conversation_service.domain.keys import ApiKey, random_secret
from conversation_service.storage.store import ConversationStore
from kernel.clock import new_uuid7, utc_now
from tests.bad_inputs.world import Places, places_of
from tests.drafts.stage import Replica, replica
from tests.support.client import Client, Metadata, connect
from tests.support.service import RunningService, running_service

SERVICE_KEY = "stk_" + "s" * 43
TENANT, OTHER_TENANT = "acme", "globex"
MEMBERS = {"observer": 1, "contributor": 2, "owner": 3}
DENIED = ("nobody", "revoked", "expired", "garbage")


def bearer(secret: str) -> Metadata:
    return (("authorization", f"Bearer {secret}"),)


async def new_key(
    store: ConversationStore,
    principal: str,
    *,
    tenant: str = TENANT,
    role: str = "",
    scopes: frozenset[str] = frozenset(),
    lasts: timedelta | None = None,
) -> tuple[str, str]:
    """(key id, secret) of a key made by the operator; one that `lasts` less than nothing has expired."""
    now, secret = utc_now(), random_secret()
    expires = now + lasts if lasts is not None else None
    key = ApiKey(new_uuid7(), principal, role, scopes, "", "operator", now, expires)
    await make_first_key(store, tenant, key, secret)
    return key.key_id, secret


@dataclass
class AccessStage:
    """`callers`: what each brings; `places`: a conversation of project P; `draft`: the draft service. The
    model waits after its first word while `model_goes_on` is cleared."""

    service: RunningService
    client: Client
    draft: Replica
    callers: dict[str, Metadata]
    key_ids: dict[str, str]
    places: Places
    other_project: str
    model_goes_on: asyncio.Event

    @property
    def store(self) -> ConversationStore:
        store = self.service.service.store
        assert isinstance(store, ConversationStore)
        return store

    def as_(self, caller: str) -> Client:
        return self.client.bringing(self.callers[caller])

    def drafting(self, caller: str) -> Client:
        return self.draft.client.bringing(self.callers[caller])


@asynccontextmanager
async def on_access_stage(canon_url: str, draft_url: str, **settings: Any) -> AsyncIterator[AccessStage]:
    common = {"auth": "on", "service_key": SERVICE_KEY, **settings}
    goes_on = asyncio.Event()
    goes_on.set()

    async def gate(index: int) -> None:
        if index:
            await goes_on.wait()

    async with (
        running_service(canon_url, gate=gate, **common) as service,
        connect(service.address) as client,
        replica(draft_url, service.address, **common) as draft,
    ):
        store = service.service.store
        assert isinstance(store, ConversationStore)
        callers, key_ids = await _callers(store)
        boss = client.bringing(callers["boss"])
        places = await places_of(boss)
        for name, role in MEMBERS.items():
            await boss.call("SetProjectMember", project_id="default", principal=name, role=role)
        other = (await boss.call("CreateProject", title="elsewhere")).project.project_id
        await boss.call("SetProjectMember", project_id=other, principal="elsewhere", role=3)
        yield AccessStage(service, client, draft, callers, key_ids, places, other, goes_on)


async def _callers(store: ConversationStore) -> tuple[dict[str, Metadata], dict[str, str]]:
    kinds: dict[str, dict[str, Any]] = {
        "boss": {"role": "owner", "scopes": frozenset({"admin"})},
        "admin": {"scopes": frozenset({"admin"})},
        **{name: {} for name in MEMBERS},
        "elsewhere": {},
        "stranger": {"tenant": OTHER_TENANT, "role": "owner"},
        "revoked": {"role": "owner"},
        "expired": {"role": "owner", "lasts": timedelta(seconds=-1)},
    }
    made = {name: await new_key(store, name, **how) for name, how in kinds.items()}
    async with store.reading(TENANT) as tx:
        assert await tx.key(made["revoked"][0])
    await store.write(TENANT, lambda tx: tx.revoke_key(made["revoked"][0], utc_now()))
    callers: dict[str, Metadata] = {name: bearer(secret) for name, (_, secret) in made.items()}
    callers |= {"nobody": (), "garbage": bearer(random_secret()), "service": bearer(SERVICE_KEY)}
    return callers, {name: key_id for name, (key_id, _) in made.items()}


def unknown() -> str:
    return str(uuid.uuid4())
