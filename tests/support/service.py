"""The conversation service in this process, on a real port and a real database."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conversation_service.main import Service, build, new_uuid7, utc_now
from conversation_service.settings import Settings
from kernel.generation.provider import ChatRequest
from kernel.generation.runner import RunLimits
from kernel.generation.script import load_script
from kernel.generation.scripted import Gate, ScriptedProvider

SECRET_KEY = base64.b64encode(bytes(range(32))).decode()


@dataclass(frozen=True)
class RunningService:
    """`address` for a channel; `sent`: what the scripted provider was sent, oldest first."""

    address: str
    service: Service
    provider: ScriptedProvider

    @property
    def sent(self) -> list[ChatRequest]:
        return self.provider.sent


@asynccontextmanager
async def running_service(
    database_url: str,
    *,
    script: str = "",
    gate: Gate | None = None,
    limits: RunLimits | None = None,
    clock: Callable[[], datetime] = utc_now,
    new_id: Callable[[], str] = new_uuid7,
    **settings: Any,
) -> AsyncIterator[RunningService]:
    """Serves until the block ends, with the scripted provider as the default; the schema is made."""
    values: dict[str, Any] = {
        "conversation": "127.0.0.1:0",
        "conversation_database_url": database_url,
        "secret_key": SECRET_KEY,
        "provider": "scripted",
    }
    async with build(Settings(**(values | settings)), limits=limits, clock=clock, new_id=new_id) as service:
        provider = ScriptedProvider(load_script(script), gate=gate, record=True)
        service.generation.providers.use(provider)
        yield RunningService(service.address, service, provider)
