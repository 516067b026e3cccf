"""With access on, each write of the conversation service that is refused has exactly one entry, whoever is
refused and for whatever reason; and a read that is refused has none."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
import pytest
from stemma.conversation.v1 import floor_service_pb2, session_service_pb2

from kernel.verbs import denials
from kernel.verbs.audit_store import AuditFilter
from tests.access.stage import TENANT as OF_ACCESS
from tests.access.stage import on_access_stage
from tests.audit.looking import TENANT, fault
from tests.bad_inputs.world import RPCS, WRITES, World, a_world
from tests.rpc.plumbing import Client as RawClient
from tests.support.client import DRAFT_METHODS, Client, assistant, user, writes
from tests.support.service import running_service

# Who is refused, and as what each of their writes is in the audit.
OUTCOMES = {
    "an observer": {"PERMISSION_DENIED"},
    # What is about a thing is hidden from them; what is about the tenant they may know of.
    "a stranger": {"NOT_FOUND", "PERMISSION_DENIED"},
    "a former owner": {"UNAUTHENTICATED"},
}


@dataclass
class Refused:
    world: World
    secrets: dict[str, str]

    def metadata(self, who: str) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.secrets[who]}"),)


async def _secrets(client: Client) -> dict[str, str]:
    made = {}
    for who, role in (
        ("an observer", "OBSERVER"),
        ("a stranger", "UNSPECIFIED"),
        ("a former owner", "OWNER"),
    ):
        answer = await client.call("CreateApiKey", principal=who, role=f"MEMBER_ROLE_{role}")
        made[who] = answer.secret
    await client.call("RevokeApiKey", api_key_id=answer.api_key.api_key_id)
    return made


@pytest.fixture
async def refused(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Refused]:
    """A world that was made with access off, under a service that has it on."""
    monkeypatch.setattr(denials, "KEPT", 10_000)
    async with a_world(migrated_url) as made, grpc.aio.insecure_channel(made.service.address) as channel:
        secrets = await _secrets(Client(channel))
    async with (
        running_service(migrated_url, auth="on", tenant_rate=0) as service,
        grpc.aio.insecure_channel(service.address) as channel,
    ):
        yield Refused(World(service, RawClient(channel), made.places), secrets)


async def test_each_denied_write_has_one_entry(refused: Refused, migrated_url: str) -> None:
    world = refused.world
    told: Counter[tuple[str, str]] = Counter()
    for who, outcomes in OUTCOMES.items():
        for name in WRITES:
            answer = await world.ask(name, world.sample(name), metadata=refused.metadata(who))
            assert answer.code.name in outcomes, (who, name, answer)
            told[who, name] += 1
        told += await _streamed(refused, who)
        for name in set(RPCS) - set(WRITES) - {"ListProjects", "ListSessions", "ListStagedWrites"}:
            if who != "an observer" or name in ("GetSnapshot", "ListAuditEntries", "VerifySession"):
                answer = await world.ask(name, world.sample(name), metadata=refused.metadata(who))
                assert answer.code.name != "OK", (who, name)
    assert await fault(world.service.service.store) is None
    await world.service.service.sealer.flush(TENANT)
    async with world.service.service.store.reading(TENANT) as tx:
        acts = [one.act for one in await tx.audit_chain(0, 10_000)]
        names = {known.alias: known.name for known in await tx.audit_principals()}
    denied = [act for act in acts if act.outcome != "OK"]
    assert Counter((names[act.principal], act.action) for act in denied) == told
    assert all(act.outcome in OUTCOMES[names[act.principal]] for act in denied)
    assert {act.count for act in denied} == {1}
    # Without a valid credential, nobody reads what it asks for.
    asked = [act for act in denied if act.outcome != "UNAUTHENTICATED"]
    assert all(act.request_id for act in asked if act.action not in ("ImportSessions",))


async def _streamed(refused: Refused, who: str) -> Counter[tuple[str, str]]:
    """Each item of AppendFloors is a write, and an import is one."""
    at, service = refused.world.places, refused.world.service
    item = floor_service_pb2.AppendFloorsRequest
    items = [
        item(request_id=at.page, session_id=at.session, input=[user("a")], output=[assistant("b")])
        for _ in range(2)
    ]
    header = session_service_pb2.ImportHeader(request_id=at.page, format="stemma")
    parts = [session_service_pb2.ImportSessionsRequest(header=header)]
    told: Counter[tuple[str, str]] = Counter()
    async with grpc.aio.insecure_channel(service.address) as channel:
        for name, messages, path in (
            ("AppendFloors", items, "/stemma.conversation.v1.FloorService/AppendFloors"),
            ("ImportSessions", parts, "/stemma.conversation.v1.SessionService/ImportSessions"),
        ):
            call = channel.stream_stream(path, request_serializer=lambda one: one.SerializeToString())
            answers, ends = 0, set[str]()
            try:
                async for _ in call(iter(messages), metadata=refused.metadata(who), timeout=30):
                    answers += 1
            except grpc.aio.AioRpcError as error:
                ends = {error.code().name}
                answers += 1
            assert ends <= OUTCOMES[who], name
            told[who, name] = answers
    return told


# What is no draft: one is made of a session, and somebody is erased by name.
ABOUT: dict[str, dict[str, str]] = {
    "draft.CreateDraft": {},
    "draft.ErasePrincipal": {"principal": "somebody"},
}


def outcome_of(name: str) -> str:
    return "PERMISSION_DENIED" if name == "draft.ErasePrincipal" else "NOT_FOUND"


async def test_each_denied_write_of_drafts_has_one_entry(canon_url: str, draft_url: str) -> None:
    async with on_access_stage(canon_url, draft_url, tenant_rate=0) as stage:
        makes = {"session_id": stage.places.session, "purpose": "denied"}
        draft = (await stage.drafting("owner").call("draft.CreateDraft", **makes)).draft
        names = [name for name in DRAFT_METHODS if writes(name)]
        for name in names:
            fields = ABOUT.get(name, {"draft_id": draft.draft_id})
            refusal = await stage.drafting("elsewhere").refused(name, **(makes if fields == {} else fields))
            assert refusal.code == outcome_of(name), name
        await stage.draft.service.sealer.flush(OF_ACCESS)
        async with stage.draft.service.store.reading(OF_ACCESS) as tx:
            found = await tx.audit_entries(AuditFilter(principal="elsewhere"), None, 1_000)
    denied = Counter((one.act.action, one.act.outcome, one.act.count) for one in found)
    assert denied == Counter((name.removeprefix("draft."), outcome_of(name), 1) for name in names)
    apart = {"CreateDraft", "ErasePrincipal"}
    named = {one.act.target_id for one in found if one.act.action not in apart}
    assert named == {draft.draft_id}
