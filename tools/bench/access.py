"""A run with access on: every service asks who calls, and every call brings the same owner's token."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
from joserfc import jwt
from joserfc.jwk import ECKey

# For the programs of the run, which inherit them.
_KEYS, _TOKEN = "BENCH_JWKS", "BENCH_TOKEN"
_ISSUER, _AUDIENCE = "bench", "stemma"


def turn_on(folder: Path) -> None:
    """For all programs that are started from now on."""
    key = ECKey.generate_key("P-256", {"kid": "bench"})
    keys = folder / "jwks.json"
    keys.write_text(json.dumps({"keys": [key.as_dict(private=False)]}))
    claims = {"iss": _ISSUER, "aud": _AUDIENCE, "exp": int(time.time()) + 86_400}
    who = {"tenant": "local", "sub": "local", "roles": ["owner", "admin"]}
    os.environ[_KEYS] = str(keys)
    os.environ[_TOKEN] = jwt.encode({"alg": "ES256", "kid": "bench"}, claims | who, key)


def settings() -> Mapping[str, str]:
    """Of a service; empty while access is off."""
    keys = os.environ.get(_KEYS)
    if not keys:
        return {}
    return {
        "STEMMA_AUTH": "on",
        "STEMMA_JWT_ISSUER": _ISSUER,
        "STEMMA_JWT_AUDIENCE": _AUDIENCE,
        "STEMMA_JWT_JWKS": keys,
        # What is measured is the service, not the limit of one tenant.
        "STEMMA_TENANT_RATE": "0",
        "STEMMA_TENANT_STREAMS": "0",
    }


def metadata() -> tuple[tuple[str, str], ...]:
    """That each call brings."""
    token = os.environ.get(_TOKEN)
    return (("authorization", f"Bearer {token}"),) if token else ()


def interceptors() -> list[grpc.aio.ClientInterceptor]:
    """The same, for a channel that is not measured."""
    return [_Unary(), _Stream(), _Both()] if metadata() else []


def _bringing(details: Any) -> Any:
    return details._replace(metadata=grpc.aio.Metadata(*(details.metadata or ()), *metadata()))


class _Unary(grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(_bringing(details), request)


class _Stream(grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(_bringing(details), request)


class _Both(grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await continuation(_bringing(details), requests)
