"""Every RPC of both services, asked by callers of every kind: R6, and the table of the contract."""

import grpc
import pytest
from google.protobuf.message import Message

from conversation_service.domain.access import RULES
from draft_service.domain.access import RULES as DRAFT_RULES
from kernel.verbs.access import ADMIN, ANYBODY, OWNER, SERVICE, Rule, enough
from tests.access.stage import DENIED, MEMBERS, AccessStage, unknown
from tests.bad_inputs.test_samples import FIRST, LAST
from tests.bad_inputs.world import samples
from tests.support.client import (
    DRAFT_METHODS,
    METHODS,
    Client,
    assistant,
    method_of,
    refusal_of,
    request_for,
    user,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNARY = [name for name in METHODS if not METHODS[name].client_streaming]
ORDER = [*FIRST, *(name for name in UNARY if name not in FIRST + LAST), *LAST]


async def test_every_rpc_has_a_rule_whose_targets_are_in_its_request() -> None:
    drafts = {name.removeprefix("draft."): method for name, method in DRAFT_METHODS.items()}
    assert set(RULES) == set(METHODS)
    assert set(DRAFT_RULES) == set(drafts)
    for rules, methods in ((RULES, METHODS), (DRAFT_RULES, drafts)):
        for name, rule in rules.items():
            for path in rule.targets:
                message = methods[name].input_type
                for part in path.split("."):
                    assert part in message.fields_by_name, (name, path)
                    message = message.fields_by_name[part].message_type


async def code(client: Client, name: str, request: Message) -> str:
    """What the call ends with: "OK", or a code's name."""
    try:
        if method_of(name).server_streaming:
            # A stream that was let in may have no end.
            call = client.stream(name, request)
            await call.read()
            call.cancel()
        else:
            await client.send(name, request)
    except grpc.aio.AioRpcError as error:
        refusal_of(error)
        return error.code().name
    return "OK"


def expected(name: str, rule: Rule, caller: str) -> str:
    """What a caller who may not gets, "" for one who may."""
    if caller in DENIED:
        return "UNAUTHENTICATED"
    if rule.needs in (ADMIN, SERVICE):
        return "" if caller == rule.needs else "PERMISSION_DENIED"
    if rule.needs == ANYBODY:
        # What its list shows is another question.
        return ""
    if caller == "service":
        return (
            ""
            if rule.also == SERVICE
            else "NOT_FOUND"
            if rule.targets or rule.default
            else "PERMISSION_DENIED"
        )
    tenant_wide = caller in {"boss", "stranger"}
    if caller in MEMBERS:
        if rule.of_tenant:
            return "PERMISSION_DENIED"
        # What is somebody else's entry, only an owner withdraws.
        needs = rule.needs if name != "WithdrawStagedWrite" else OWNER
        return "" if enough(frozenset({caller}), needs) else "PERMISSION_DENIED"
    if tenant_wide and (rule.of_tenant or rule.default):
        return ""
    return "PERMISSION_DENIED" if rule.of_tenant else "NOT_FOUND"


@pytest.mark.parametrize(
    "caller", [*DENIED, "stranger", "elsewhere", "admin", "service", "observer", "contributor"]
)
async def test_who_may_not_gets_nothing(stage: AccessStage, caller: str) -> None:
    found, wanted = {}, {}
    given = samples(stage.places)
    for name in UNARY:
        wanted[name] = expected(name, RULES[name], caller)
        if wanted[name]:
            found[name] = await code(stage.as_(caller), name, request_for(name, **given[name]))
    assert found == {name: code for name, code in wanted.items() if code}


async def test_drafts_are_their_authors_and_their_projects(stage: AccessStage) -> None:
    """A member sees what is for everybody to see, uses its own, and an owner any; nobody else knows of it."""
    session_id = stage.places.session
    makes = {"session_id": session_id, "purpose": "matrix"}
    assert (
        await stage.drafting("observer").refused("draft.CreateDraft", **makes)
    ).code == "PERMISSION_DENIED"
    for caller in ("elsewhere", "stranger", "service"):
        assert (await stage.drafting(caller).refused("draft.CreateDraft", **makes)).code == "NOT_FOUND"
    mine = (await stage.drafting("contributor").call("draft.CreateDraft", **makes)).draft
    hidden = (await stage.drafting("owner").call("draft.CreateDraft", **makes, visibility=2)).draft
    wanted = {
        **dict.fromkeys(DENIED, ("UNAUTHENTICATED",) * 4),
        **dict.fromkeys(("elsewhere", "stranger", "service"), ("NOT_FOUND",) * 4),
        "observer": ("OK", "PERMISSION_DENIED", "NOT_FOUND", "NOT_FOUND"),
        "contributor": ("OK", "OK", "NOT_FOUND", "NOT_FOUND"),
        "boss": ("OK", "OK", "NOT_FOUND", "NOT_FOUND"),
        "owner": ("OK", "OK", "OK", "OK"),
    }
    found = {}
    for caller in wanted:
        client = stage.drafting(caller)
        codes = []
        for draft_id in (mine.draft_id, hidden.draft_id):
            for name, fields in (("GetDraft", {}), ("AppendMessage", {"message": user("words")})):
                request = request_for(f"draft.{name}", draft_id=draft_id, **fields)
                codes.append(await code(client, f"draft.{name}", request))
        found[caller] = tuple(codes)
    assert found == wanted


async def test_every_rpc_of_drafts_asks_first(stage: AccessStage) -> None:
    makes = {"session_id": stage.places.session, "purpose": "matrix"}
    draft = (await stage.drafting("owner").call("draft.CreateDraft", **makes)).draft
    for name, method in DRAFT_METHODS.items():
        fields = {"draft_id": draft.draft_id} if "draft_id" in method.input_type.fields_by_name else {}
        if name == "draft.CreateDraft":
            fields = makes
        for caller in (*DENIED, "stranger", "elsewhere"):
            found = await code(stage.drafting(caller), name, request_for(name, **fields))
            assert found in without_access(DRAFT_RULES[name.removeprefix("draft.")], caller), (name, caller)


def without_access(rule: Rule, caller: str) -> set[str]:
    """What it may get: to an owner of another tenant a draft is missing, and so may be the words for it."""
    if caller in DENIED:
        return {"UNAUTHENTICATED"}
    if rule.needs == ANYBODY:
        return {"OK"}
    if rule.needs == ADMIN:
        return {"PERMISSION_DENIED"}
    return {"NOT_FOUND", "INVALID_ARGUMENT"} if caller == "stranger" else {"NOT_FOUND"}


async def test_an_export_goes_only_where_its_caller_may_stage(stage: AccessStage) -> None:
    client = stage.drafting("contributor")
    makes = {"session_id": stage.places.session, "purpose": "export"}
    draft_id = (await client.call("draft.CreateDraft", **makes)).draft.draft_id
    await client.call("draft.AppendMessage", draft_id=draft_id, message=assistant("a better answer"))
    exports = {"draft_id": draft_id, "parts": [{"output_page": {}}], "reason": "better"}
    foreign = await stage.as_("stranger").new_session()
    for target in ({"project_id": stage.other_project}, {"session_id": foreign}, {"session_id": unknown()}):
        refused = await client.refused("draft.ExportDraft", target=target, **exports)
        assert (refused.code, refused.reason) == ("NOT_FOUND", "NOT_FOUND")
    target = {"session_id": stage.places.session, "branch": "long", "placement": 2}
    done = await client.call("draft.ExportDraft", target=target, **exports)
    entry = (
        await stage.as_("owner").call("GetStagedWrite", staged_write_id=done.staged_write_id)
    ).staged_write
    assert entry.staged_by == "contributor"


async def test_bad_input_17_who_only_looks_writes_nothing(stage: AccessStage) -> None:
    observer = stage.as_("observer")
    words = {"input": [user("a")], "output": [assistant("b")]}
    for name, fields in (
        ("AppendFloor", {"session_id": stage.places.session, **words}),
        ("CreateApiKey", {"principal": "observer", "role": 3}),
    ):
        refused = await observer.refused(name, **fields)
        assert (refused.code, refused.reason) == ("PERMISSION_DENIED", "FORBIDDEN"), name


async def test_who_may_is_answered(stage: AccessStage) -> None:
    """An observer everything that reads, a contributor what stages; an owner all the rest, in an order in
    which each finds its ground."""
    given = samples(stage.places)
    denials = {"UNAUTHENTICATED", "PERMISSION_DENIED"}
    for caller in ("observer", "contributor", "owner"):
        for name in ORDER:
            if expected(name, RULES[name], caller):
                continue
            if caller != "owner" and RULES[name].needs != caller and RULES[name].needs != ANYBODY:
                continue
            changes = {"on_pending": 2} if "on_pending" in method_of(name).input_type.fields_by_name else {}
            request = request_for(name, **given[name], **changes)
            assert await code(stage.as_(caller), name, request) not in denials, (caller, name)
