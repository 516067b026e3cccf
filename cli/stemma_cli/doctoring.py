"""What `stemma doctor` looks at, one thing after the other. Nothing is changed."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import grpc
import httpx2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import ValidationError

from conversation_service.settings import Settings as ConversationSettings
from draft_service.settings import Settings as DraftSettings
from gateway.settings import Settings as GatewaySettings
from kernel.rpc.dial import target
from kernel.rpc.tls import BadCertificates, channel_credentials
from kernel.service_settings import BadSettings, explained, service_keys, tls_files
from stemma_cli.doctoring_databases import database

State = Literal["ok", "warn", "fail"]
# Seconds for one question; bytes of disk below which to warn, and to fail.
_PATIENCE = 3.0
_LITTLE, _TOO_LITTLE = 2 * 1024**3, 200 * 1024**2


@dataclass(frozen=True, slots=True)
class Finding:
    """`said` is how it is, `advice` what to do; "" where there is nothing to do."""

    what: str
    state: State
    said: str
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


async def examined() -> list[Finding]:
    """In the order in which one would mend them."""
    found, settings = _settings()
    conversation, draft, gateway = settings
    if conversation is not None:
        found += [_secret(conversation), _access(conversation), _disk(conversation.data)]
        found.append(
            Finding("conversation database", *await database("conversation", conversation.database_url))
        )
        found.append(await _service("conversation service", conversation, conversation.conversation))
        found.append(await _model(conversation))
    if draft is not None:
        found.append(Finding("draft database", *await database("draft", draft.database_url)))
        found.append(await _service("draft service", draft, draft.draft))
    if gateway is not None:
        found.append(await _gateway(gateway))
    return found


def _settings() -> tuple[list[Finding], tuple[Any, Any, Any]]:
    """Every program's, None for those that it would refuse."""
    found: list[Finding] = []
    read: list[Any] = []
    for name, kind in (
        ("conversation", ConversationSettings),
        ("draft", DraftSettings),
        ("gateway", GatewaySettings),
    ):
        try:
            read.append(kind())
        except ValidationError as error:
            read.append(None)
            found.append(Finding(f"settings ({name})", "fail", explained(error), "See docs/settings.md."))
    if not found:
        found.append(Finding("settings", "ok", "all programs would take them"))
    return found, (read[0], read[1], read[2])


def _secret(settings: ConversationSettings) -> Finding:
    what = "STEMMA_SECRET_KEY"
    if settings.secret_key:
        count = settings.secret_key.count(",") + 1
        later = "" if count == 1 else "Once all is sealed anew (stemma keys reseal), drop the old ones."
        return Finding(what, "ok" if count == 1 else "warn", f"set, {count} in use", later)
    if settings.database_url.startswith("sqlite"):
        kept = (settings.data / "secret.key").exists()
        said = f"kept in {settings.data / 'secret.key'}" if kept else "made on first start"
        return Finding(what, "ok", said, "Back it up with the database." if kept else "")
    advice = "Set 32 random bytes in base64, the same for every replica."
    return Finding(what, "fail", "not set, and PostgreSQL needs it", advice)


def _access(settings: ConversationSettings) -> Finding:
    from conversation_service.settings import auth_is_on

    try:
        on = auth_is_on(settings)
        services = bool(service_keys(settings) or settings.service_names)
    except BadSettings as error:
        return Finding("access", "fail", str(error))
    if not on:
        return Finding("access", "ok", "off: everybody on this machine is the owner")
    if services:
        return Finding("access", "ok", "on, and services can call each other")
    advice = "Set STEMMA_SERVICE_KEY for both services, or STEMMA_SERVICE_NAMES with certificates."
    return Finding("access", "warn", "on, and the draft service has no credential", advice)


def _disk(folder: Path) -> Finding:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    said = f"{free / 1024**3:.1f} GiB free at {there}"
    state: State = "fail" if free < _TOO_LITTLE else "warn" if free < _LITTLE else "ok"
    return Finding(
        "disk", state, said, "" if state == "ok" else "Make room: a full disk refuses every write."
    )


async def _service(what: str, settings: Any, address: str) -> Finding:
    """By its own health check, as a load balancer asks."""
    try:
        credentials = channel_credentials(tls_files(settings))
    except BadCertificates as error:
        return Finding(what, "fail", str(error))
    where = target(address.replace("0.0.0.0", "127.0.0.1"))
    opened = grpc.aio.insecure_channel(where)
    if credentials is not None:
        opened = grpc.aio.secure_channel(where, credentials)
    async with opened as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=_PATIENCE
            )
        except grpc.aio.AioRpcError as error:
            advice = "Start it, or set the address at which it listens."
            return Finding(what, "fail", f"{error.code().name} at {address}", advice)
    name = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    return Finding(what, "ok" if name == "SERVING" else "fail", f"{name} at {address}")


async def _gateway(settings: GatewaySettings) -> Finding:
    address = settings.http.replace("0.0.0.0", "127.0.0.1")
    status, said = await _got(f"http://{address}/readyz")
    if status == 200:
        return Finding("gateway", "ok", f"ready at {address}")
    advice = "Start it, or look at what it cannot reach." if status else "Start it."
    return Finding("gateway", "fail", f"{said} at {address}", advice)


async def _model(settings: ConversationSettings) -> Finding:
    if settings.provider != "openai":
        name = settings.provider or "local, or scripted where it is not installed"
        return Finding("model", "ok", name)
    url = f"{(settings.openai_base_url or 'https://api.openai.com/v1').rstrip('/')}/models"
    status, said = await _got(url, {"authorization": f"Bearer {settings.openai_api_key}"})
    if status == 200:
        return Finding("model", "ok", f"openai at {settings.openai_base_url or 'its own address'}")
    if status in (401, 403):
        return Finding("model", "fail", f"{said}", "The endpoint refuses STEMMA_OPENAI_API_KEY.")
    state: State = "warn" if status else "fail"
    return Finding(
        "model", state, said, "Look at STEMMA_OPENAI_BASE_URL; not every endpoint lists its models."
    )


async def _got(url: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and words for it; 0 for no answer."""
    try:
        async with httpx2.AsyncClient(timeout=_PATIENCE, trust_env=False) as client:
            answer = await client.get(url, headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return 0, f"no answer ({type(error).__name__})"
    return answer.status_code, f"HTTP {answer.status_code}"
