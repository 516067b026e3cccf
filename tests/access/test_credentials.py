"""Who is let in: the bad inputs 13, 14 and 15, with keys and tokens alike."""

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from tests.access.stage import TENANT, bearer, new_key
from tests.conftest import DatabaseFactory
from tests.support.client import Client, Metadata, connect, refusal_of
from tests.support.service import RunningService, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

ISSUER, AUDIENCE = "https://issuer.example", "stemma"
KEY, OTHER_KEY = (ECKey.generate_key("P-256", {"kid": kid}) for kid in ("one", "two"))
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})


def token(key: Any = KEY, *, alg: str = "ES256", kid: str | None = None, **claims: Any) -> str:
    """A good token for the tenant `acme`, but for what is given."""
    now = int(time.time())
    said = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": now + 300,
        "tenant": TENANT,
        "sub": "ada",
        "roles": ["owner"],
    }
    header = {"alg": alg, "kid": kid or key.kid}
    kept = {name: value for name, value in (said | claims).items() if value is not None}
    return jwt.encode(header, kept, key, algorithms=[alg])


def by_hand(header: bytes, key: bytes) -> str:
    """A token that no library makes: with no signature, or an HMAC under whatever key."""
    _, body, _ = token().split(".")
    signed = f"{_base64(header)}.{body}"
    mac = hmac.digest(key, signed.encode(), "sha256") if key else b""
    return f"{signed}.{_base64(mac)}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Doors:
    service: RunningService
    client: Client
    key: str

    async def asked(self, metadata: Metadata) -> str:
        """ "OK", or the code and reason of the refusal."""
        try:
            await self.client.bringing(metadata).call("ListProjects")
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error)
            return f"{refusal.code} {refusal.reason}"
        return "OK"


@pytest.fixture(scope="module")
def database_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    keys = Path(tmp_path_factory.mktemp("keys")) / "jwks.json"
    public = [key.as_dict(private=False) for key in (KEY, RSA)]
    # A shared secret among them is never taken for a key.
    keys.write_text(json.dumps({"keys": [*public, OctKey.generate_key(256, {"kid": "oct"}).as_dict()]}))
    settings = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks": str(keys)}
    async with (
        running_service(database_url, auth="on", **settings) as service,
        connect(service.address) as client,
    ):
        _, secret = await new_key(service.service.store, "ada", role="owner")  # type: ignore[arg-type]
        yield Doors(service, client, secret)


UNAUTHENTICATED, FORBIDDEN = "UNAUTHENTICATED UNAUTHENTICATED", "PERMISSION_DENIED FORBIDDEN"


async def test_a_key_and_a_token_are_taken_from_either_place(doors: Doors) -> None:
    for credential in (doors.key, token(), token(RSA, alg="RS256"), token(aud=["others", AUDIENCE])):
        for metadata in (
            bearer(credential),
            (("authorization", f"bearer {credential}"),),
            (("x-api-key", credential),),
            (*bearer(credential), ("x-stemma-tenant", TENANT)),
        ):
            assert await doors.asked(metadata) == "OK", metadata[0][0]


BAD_TOKENS = {
    "expired": lambda: token(exp=int(time.time()) - 60),
    "not yet valid": lambda: token(nbf=int(time.time()) + 600),
    "without an end": lambda: token(exp=None),
    "an end that is a text": lambda: token(exp="tomorrow"),
    "another issuer's": lambda: token(iss="https://evil.example"),
    "for another audience": lambda: token(aud="somebody"),
    "an unknown key": lambda: token(OTHER_KEY),
    "another key under a known id": lambda: token(OTHER_KEY, kid="one"),
    "an algorithm that is not allowed": lambda: token(RSA, alg="RS512"),
    "a public key as a secret": lambda: by_hand(b'{"alg":"HS256","kid":"rsa"}', RSA.as_pem(private=False)),
    "unsigned": lambda: by_hand(b'{"alg":"none","kid":"one"}', b""),
    "without a tenant": lambda: token(tenant=None),
    "a tenant that is no text": lambda: token(tenant=7),
    "without a principal": lambda: token(sub=""),
    "cut": lambda: token()[:-4],
    "with a changed body": lambda: ".".join([token().split(".")[0], token(sub="eve").split(".")[1], "AAAA"]),
    "three dots of nothing": lambda: "..",
    "garbage": lambda: "a.b.c",
}


@pytest.mark.parametrize("what", BAD_TOKENS)
async def test_bad_input_13_tokens(doors: Doors, what: str) -> None:
    assert await doors.asked(bearer(BAD_TOKENS[what]())) == UNAUTHENTICATED


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("authorization", ""),),
        (("authorization", "Bearer"),),
        (("authorization", "Bearer  "),),
        (("authorization", "Basic YTpi"),),
        (("authorization", "Bearer two words"),),
        (("authorization", "Bearer stk_short"),),
        bearer("stk_" + "A" * 43),
        bearer("x" * 4000),
        (("x-api-key", ""),),
        (("x-api-key", "with space"),),
    ],
    ids=lambda metadata: str(metadata)[:40],
)
async def test_bad_input_13_no_credential_and_malformed_ones(doors: Doors, metadata: Metadata) -> None:
    assert await doors.asked(metadata) == UNAUTHENTICATED


async def test_bad_input_14_two_credentials(doors: Doors) -> None:
    for second in (doors.key, token(), token(tenant="globex")):
        for metadata in (
            (*bearer(doors.key), *bearer(second)),
            (*bearer(doors.key), ("x-api-key", second)),
            (("x-api-key", doors.key), ("x-api-key", second)),
        ):
            assert await doors.asked(metadata) == UNAUTHENTICATED


async def test_bad_input_15_another_tenant_than_the_credentials(doors: Doors) -> None:
    for credential in (doors.key, token()):
        metadata = (*bearer(credential), ("x-stemma-tenant", "globex"))
        assert await doors.asked(metadata) == FORBIDDEN
    twice = (*bearer(doors.key), ("x-stemma-tenant", TENANT), ("x-stemma-tenant", "globex"))
    assert await doors.asked(twice) == UNAUTHENTICATED


async def test_roles_of_a_token_are_those_that_we_know(doors: Doors) -> None:
    for roles, wanted in (
        (["owner", "root"], "OK"),
        ("observer drafts.internal", "PERMISSION_DENIED"),
        (["service"], "PERMISSION_DENIED"),
        ([], "PERMISSION_DENIED"),
        ({"owner": True}, "PERMISSION_DENIED"),
        (None, "PERMISSION_DENIED"),
    ):
        client = doors.client.bringing(bearer(token(roles=roles)))
        try:
            await client.call("CreateProject", title="by a token")
            found = "OK"
        except grpc.aio.AioRpcError as error:
            found = error.code().name
        assert found == wanted, roles
