"""What the settings of every service have in common, checked before anything starts."""

import base64
import ipaddress
import os
import re
import secrets
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from kernel.generation.registry import ProviderSettings
from kernel.net.addresses import AddressRefused
from kernel.net.guard import Guard, allowed_hosts
from kernel.rpc.credentials import Authentication, ServiceKeys, Verifier
from kernel.rpc.jwks import Keys, from_file, from_url
from kernel.rpc.jwt import ALGORITHMS, TokenRules, TokenVerifier
from kernel.rpc.tls import TlsFiles
from kernel.tools.mcp_settings import BadServers, McpServer, read_servers


class BadSettings(Exception):
    """The service cannot start like this; the text says what to change."""


_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def _age(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"([1-9][0-9]{0,5})([dhms])", value)
    if match is None:
        raise ValueError("a number and d, h, m or s: 30d is thirty days")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _age_or_ever(value: object) -> object:
    try:
        return None if value == "" else _age(value)
    except ValueError as error:
        raise ValueError(f"{error}; empty keeps for ever") from None


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


# A whole number from 0 on; empty is as if it was not set.
Limit = Annotated[Annotated[int, Field(ge=0, le=2**62)] | None, BeforeValidator(_none_if_empty)]
# `30d`, `12h`, `90m`, `60s`; the second also nothing, for ever.
Age = Annotated[timedelta, BeforeValidator(_age)]
AgeOrEver = Annotated[timedelta | None, BeforeValidator(_age_or_ever)]


class ServiceSettings(BaseSettings):
    """`STEMMA_` variables that both services read; see the table in the README."""

    model_config = SettingsConfigDict(env_prefix="STEMMA_", extra="ignore")

    # A folder for what is kept on the embedded default: SQLite files, a secret key.
    data: Path = Path("data")
    # Whether callers need a credential. Empty: off on loopback, on everywhere else; off elsewhere is refused.
    auth: Literal["", "off", "on"] = ""
    # The key by which services call each other, `stk_` and 43 characters; several by commas, for rotation:
    # the first one is sent, all are taken.
    service_key: str = Field(default="", repr=False)
    # JSON Web Tokens: who issues them, for whom, and where the issuer's keys are (a URL or a file).
    jwt_issuer: str = ""
    jwt_audience: str = ""
    jwt_jwks: str = ""
    # By commas; and the claims that name the tenant, the principal, and the roles and scopes.
    jwt_algorithms: str = ",".join(ALGORITHMS)
    jwt_tenant_claim: str = "tenant"
    jwt_principal_claim: str = "sub"
    jwt_roles_claim: str = "roles"
    # TLS, from PEM files: what a server shows, and which clients' certificates it asks for; what a channel
    # to another service trusts.
    tls_cert: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    tls_ca: str = ""
    # Names in certificates of clients that are services, by commas.
    service_names: str = ""
    # 32 bytes in base64, the same for every replica: seals page tokens and callers' secrets. Several by
    # commas, for rotation: the first one seals, all of them open. Made on first start with SQLite, required
    # with PostgreSQL.
    secret_key: str = Field(default="", repr=False)
    # Which model answers where a configuration names none: local, openai or scripted.
    provider: str = ""
    # Of the provider `openai`: any endpoint that speaks its protocol, its key, and the model to ask for.
    openai_base_url: str = ""
    openai_api_key: str = Field(default="", repr=False)
    model: str = ""
    # Of the provider `scripted`: JSON, or a file of it, with replies, delays, tool calls, errors and cuts.
    script: str = ""
    # Answers that one model endpoint writes at once, and calls that may wait for one of them.
    provider_streams: int = Field(default=256, ge=1, le=100_000)
    provider_queue: int = Field(default=256, ge=0, le=100_000)
    # Hosts off the public internet that configurations may name, as `host` or `host:port`, by commas.
    allow_hosts: str = ""
    # Of each tenant in each process; see kernel/rpc/limits.py. 0 is no limit, and empty the default.
    tenant_rate: Limit = None
    tenant_burst: Limit = None
    tenant_streams: Limit = None
    # Of each tenant in each service; see kernel/verbs/quotas.py. 0 and empty: no quota.
    tenant_stored_bytes: Limit = None
    tenant_tokens_per_day: Limit = None
    # What is logged, one line for each call, and how.
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["json", "console"] = "json"

    @property
    def providers(self) -> ProviderSettings:
        return ProviderSettings(
            default=self.provider,
            openai_base_url=self.openai_base_url,
            openai_api_key=self.openai_api_key,
            openai_model=self.model,
            script=self.script,
            streams=self.provider_streams,
            waiting=self.provider_queue,
        )


def explained(error: ValidationError) -> str:
    """What is wrong with which variable, without its value: it may be a secret."""
    faults = (f"STEMMA_{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors())
    return "; ".join(faults)


def auth_is_on(auth: str, variable: str, address: str, default: str) -> bool:
    """Off on loopback unless it is set, and on everywhere else. `variable` says where to listen.

    Raises BadSettings where it may not be off.
    """
    host = address.rpartition(":")[0].strip("[]")
    loopback = host == "localhost" or _is_loopback(host)
    if auth == "off" and not loopback:
        raise BadSettings(
            f"STEMMA_AUTH=off is for loopback only: set {variable} to {default}, or STEMMA_AUTH to on."
        )
    return auth == "on" or not loopback


def authentication(settings: ServiceSettings, verifiers: Sequence[Verifier]) -> Authentication:
    """Lets in whom the settings name: services by key or certificate, tokens of the issuer, and whom
    `verifiers` know. Raises BadSettings."""
    known: list[Verifier] = [ServiceKeys(service_keys(settings))]
    if settings.jwt_issuer or settings.jwt_audience or settings.jwt_jwks:
        known.append(_tokens(settings))
    names = [name.strip() for name in settings.service_names.split(",") if name.strip()]
    return Authentication([*known, *verifiers], names)


def service_keys(settings: ServiceSettings) -> list[str]:
    """The first one is ours to send. Raises BadSettings."""
    found = [text.strip() for text in settings.service_key.split(",") if text.strip()]
    if not all(re.fullmatch(r"stk_[A-Za-z0-9_-]{43}", text) for text in found):
        raise BadSettings(
            "STEMMA_SERVICE_KEY is `stk_` and 32 random bytes in URL-safe base64, without padding (python -c "
            "'import secrets; print(\"stk_\" + secrets.token_urlsafe(32))'); several are separated by commas."
        )
    return found


def tls_files(settings: ServiceSettings) -> TlsFiles:
    return TlsFiles(settings.tls_cert, settings.tls_key, settings.tls_ca, settings.tls_client_ca)


def _tokens(settings: ServiceSettings) -> TokenVerifier:
    if not (settings.jwt_issuer and settings.jwt_audience and settings.jwt_jwks):
        raise BadSettings("STEMMA_JWT_ISSUER, STEMMA_JWT_AUDIENCE and STEMMA_JWT_JWKS belong together.")
    algorithms = [name.strip() for name in settings.jwt_algorithms.split(",") if name.strip()]
    if not algorithms or not set(algorithms) <= set(ALGORITHMS):
        raise BadSettings(f"STEMMA_JWT_ALGORITHMS: choose of {', '.join(ALGORITHMS)}.")
    source = settings.jwt_jwks
    try:
        fetch = from_url(source) if "://" in source else from_file(Path(source))
    except AddressRefused as error:
        raise BadSettings(f"STEMMA_JWT_JWKS {error.message}.") from None
    rules = TokenRules(
        settings.jwt_issuer,
        settings.jwt_audience,
        algorithms,
        settings.jwt_tenant_claim,
        settings.jwt_principal_claim,
        settings.jwt_roles_claim,
    )
    return TokenVerifier(rules, Keys(fetch))


def guard(settings: ServiceSettings) -> Guard:
    """Says where callers' own endpoints and servers may be."""
    try:
        return Guard(allowed_hosts(settings.allow_hosts))
    except ValueError as error:
        raise BadSettings(f"STEMMA_ALLOW_HOSTS: {error}; separate hosts by commas.") from None


def mcp_servers(text: str, variable: str) -> dict[str, McpServer]:
    """The MCP servers that the operator named in that variable; see kernel/tools/mcp_settings.py."""
    try:
        return read_servers(text)
    except BadServers as error:
        raise BadSettings(f"{variable}: {error}") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def secret_keys(secret_key: str, database_url: str, data: Path) -> list[bytes]:
    """The keys that seal page tokens and callers' secrets, newest first; on the embedded default, made on
    first start."""
    if secret_key:
        return [_key(text.strip()) for text in secret_key.split(",")]
    if not database_url.startswith("sqlite"):
        raise BadSettings(
            "STEMMA_SECRET_KEY is required with PostgreSQL: 32 random bytes in base64, the same for "
            "every replica (python -c 'import base64,secrets;"
            "print(base64.b64encode(secrets.token_bytes(32)).decode())')."
        )
    return [_key(_kept_key(data / "secret.key"))]


def _kept_key(path: Path) -> str:
    """Whoever comes first makes it, whole: services that start together share it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        descriptor, made = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(base64.b64encode(secrets.token_bytes(32)).decode())
            os.link(made, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(made)
    return path.read_text().strip()


def _key(text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        # Not base64, or not ASCII.
        key = b""
    if len(key) != 32:
        raise BadSettings("STEMMA_SECRET_KEY holds 32 bytes in base64; several are separated by commas.")
    return key
