"""An API key's life: shown once, kept as a digest, expiring, revoked."""

from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import select

from conversation_service.domain.keys import digest, secret_for
from conversation_service.storage.tables import metadata
from tests.access.stage import TENANT, AccessStage, bearer, unknown
from tests.support.client import Client, request_for

pytestmark = pytest.mark.asyncio(loop_scope="session")


def admin(stage: AccessStage) -> Client:
    return stage.as_("admin")


async def works(stage: AccessStage, secret: str) -> bool:
    try:
        await stage.client.bringing(bearer(secret)).call("ListProjects")
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.UNAUTHENTICATED:
            raise
        return False
    return True


async def rows(stage: AccessStage) -> str:
    """Every value of every table."""
    found = []
    async with stage.store._engines.reading() as connection:
        for table in metadata.sorted_tables:
            found += [repr(tuple(row)) for row in await connection.execute(select(table))]
    return "\n".join(found)


async def test_a_key_is_shown_once_and_kept_as_a_digest(stage: AccessStage) -> None:
    made = await admin(stage).call("CreateApiKey", principal="grace", role=1, title="laptop")
    assert await works(stage, made.secret)
    assert (made.api_key.principal, made.api_key.role, made.api_key.created_by) == ("grace", 1, "admin")
    listed = await admin(stage).everything("ListApiKeys", "api_keys", page_size=2)
    assert [key for key in listed if key.api_key_id == made.api_key.api_key_id] == [made.api_key]
    kept = await rows(stage)
    assert made.secret not in kept
    assert made.secret.removeprefix("stk_") not in kept
    assert repr(digest(made.secret)) in kept


async def test_a_repeat_answers_with_the_same_secret(stage: AccessStage) -> None:
    request = request_for("CreateApiKey", principal="grace", scopes=["drafts.internal"])
    first, again = [await admin(stage).raw("CreateApiKey", request) for _ in range(2)]
    assert first == again
    request.principal = "another"
    assert (await admin(stage).refusal("CreateApiKey", request)).reason == "REQUEST_ID_REUSED"


async def test_each_request_has_a_secret_of_its_own() -> None:
    made = {
        secret_for(master, tenant, principal, request_id)
        for master in (bytes(32), b"1" * 32)
        for tenant in ("a", "b")
        for principal in ("p", "q")
        for request_id in ("r", "s")
    }
    assert len(made) == 16


async def test_a_revoked_key_is_refused_at_once(stage: AccessStage) -> None:
    made = await admin(stage).call("CreateApiKey", principal="grace", role=1)
    assert await works(stage, made.secret)
    revoked = (await admin(stage).call("RevokeApiKey", api_key_id=made.api_key.api_key_id)).api_key
    assert not await works(stage, made.secret)
    assert (await admin(stage).call("RevokeApiKey", api_key_id=made.api_key.api_key_id)).api_key == revoked
    assert (await admin(stage).refused("RevokeApiKey", api_key_id=unknown())).code == "NOT_FOUND"


async def test_a_key_of_another_tenant_is_none(stage: AccessStage) -> None:
    foreign = stage.key_ids["stranger"]
    assert (await admin(stage).refused("RevokeApiKey", api_key_id=foreign)).code == "NOT_FOUND"
    listed = await admin(stage).everything("ListApiKeys", "api_keys")
    assert foreign not in {key.api_key_id for key in listed}


async def test_what_a_key_may_not_be(stage: AccessStage) -> None:
    past, never = Timestamp(), Timestamp(seconds=2**60)
    past.FromDatetime(datetime.now(UTC) - timedelta(seconds=1))
    wrong: list[dict[str, Any]] = [
        {"principal": ""},
        {"principal": "x" * 201},
        {"principal": "a", "scopes": ["service"]},
        {"principal": "a", "scopes": ["root"]},
        {"principal": "a", "role": 9},
        {"principal": "a", "title": "x" * 201},
        {"principal": "a", "expire_time": past},
        {"principal": "a", "expire_time": never},
    ]
    for fields in wrong:
        assert (await admin(stage).refused("CreateApiKey", **fields)).code == "INVALID_ARGUMENT", fields


async def test_a_key_expires(stage: AccessStage) -> None:
    """By the service's clock, while its answer is remembered."""
    keys = stage.service.service.env
    soon = Timestamp()
    soon.FromDatetime(keys.clock() + timedelta(hours=1))
    made = await admin(stage).call("CreateApiKey", principal="grace", role=1, expire_time=soon)
    assert await works(stage, made.secret)
    async with stage.store.reading(TENANT) as tx:
        found = await tx.key(made.api_key.api_key_id)
    assert found is not None
    assert found[0].valid(keys.clock())
    assert not found[0].valid(keys.clock() + timedelta(hours=1))
