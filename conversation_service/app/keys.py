"""Making, listing and revoking API keys."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from conversation_service.app.key_store import KeyStore, WriteTx
from conversation_service.domain.keys import ApiKey, digest, secret_for
from kernel.errors import FailedPrecondition, NotFound, invalid
from kernel.verbs.env import Caller, Env, Write
from kernel.verbs.records import Answer, Request


@dataclass(frozen=True, slots=True)
class NewKey:
    """`role` is "" where the projects' members decide; a key without `expire_time` lasts until it is
    revoked."""

    principal: str
    role: str
    scopes: frozenset[str]
    title: str
    expire_time: datetime | None


async def create_key(
    env: Env, store: KeyStore, masters: Sequence[bytes], write: Write, new: NewKey
) -> tuple[ApiKey, str]:
    """-> the key and its secret, the same again for a repeat. `masters` are STEMMA_SECRET_KEY's: the first
    makes new secrets, all of them those of before."""
    caller, request = write.caller, write.request

    def secret(master: bytes) -> str:
        return secret_for(master, caller.tenant_id, caller.principal, request.request_id)

    async def work(tx: WriteTx) -> tuple[ApiKey, bytes]:
        answer = await tx.answer(request)
        if answer is not None:
            return await _known(tx, json.loads(answer.other)["key_id"])
        if new.expire_time is not None and new.expire_time <= env.clock():
            raise invalid("expire_time", "has passed")
        key = made(env.new_id(), caller.principal, env.clock(), new)
        kept = digest(secret(masters[0]))
        await tx.insert_key(key, kept)
        other = json.dumps({"key_id": key.key_id})
        await tx.record(request, Answer(other=other, target=f"key:{key.key_id}"))
        return key, kept

    key, kept = await store.write(caller.tenant_id, work)
    found = next((text for text in map(secret, masters) if digest(text) == kept), None)
    if found is None:
        raise FailedPrecondition(
            "INVALID", "The key was made under a STEMMA_SECRET_KEY that is gone: revoke it, and make another."
        )
    return key, found


def made(key_id: str, created_by: str, now: datetime, new: NewKey) -> ApiKey:
    """Raises nothing: what `new` says was checked where it came in."""
    return ApiKey(key_id, new.principal, new.role, new.scopes, new.title, created_by, now, new.expire_time)


async def make_first_key(store: KeyStore, tenant_id: str, key: ApiKey, secret: str) -> None:
    """A key that the operator makes, on the database itself: nobody has to be let in for it. In the audit it
    stands as made by whoever `key` says."""

    async def work(tx: WriteTx) -> None:
        await tx.insert_key(key, digest(secret))
        request = Request(key.created_by, "CreateApiKey", key.key_id, bytes(32))
        await tx.record(request, Answer(target=f"key:{key.key_id}"))

    await store.write(tenant_id, work)


async def revoke_key(env: Env, store: KeyStore, write: Write, key_id: str) -> ApiKey:
    """-> the key as it is from now on; one that is revoked already stays as it is. NOT_FOUND for none."""

    async def work(tx: WriteTx) -> ApiKey:
        answer = await tx.answer(write.request)
        key, _ = await _known(tx, key_id)
        if answer is None:
            await tx.revoke_key(key_id, env.clock())
            await tx.record(write.request, Answer(target=f"key:{key_id}"))
            key, _ = await _known(tx, key_id)
        return key

    return await store.write(write.caller.tenant_id, work)


async def list_keys(
    store: KeyStore, caller: Caller, after: tuple[datetime, str] | None, limit: int
) -> list[ApiKey]:
    """Newest first, from below `after`."""
    async with store.reading(caller.tenant_id) as tx:
        return await tx.keys(after, limit)


async def _known(tx: WriteTx, key_id: str) -> tuple[ApiKey, bytes]:
    found = await tx.key(key_id)
    if found is None:
        raise NotFound("key")
    return found
