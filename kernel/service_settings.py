"""What the settings of every service have in common, checked before anything starts."""

import base64
import ipaddress
import os
import re
import secrets
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from kernel.generation.registry import ProviderSettings
from kernel.net.guard import Guard, allowed_hosts
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


# `30d`, `12h`, `90m`, `60s`; the second also nothing, for ever.
Age = Annotated[timedelta, BeforeValidator(_age)]
AgeOrEver = Annotated[timedelta | None, BeforeValidator(_age_or_ever)]


class ServiceSettings(BaseSettings):
    """`STEMMA_` variables that both services read; see the table in the README."""

    model_config = SettingsConfigDict(env_prefix="STEMMA_", extra="ignore")

    data: Path = Path("data")
    auth: Literal["", "off", "on"] = ""
    secret_key: str = Field(default="", repr=False)
    provider: str = ""
    openai_base_url: str = ""
    openai_api_key: str = Field(default="", repr=False)
    model: str = ""
    script: str = ""
    # Answers that one model endpoint writes at once, and calls that may wait for one of them.
    provider_streams: int = Field(default=256, ge=1, le=100_000)
    provider_queue: int = Field(default=256, ge=0, le=100_000)
    # Hosts off the public internet that configurations may name, as `host` or `host:port`, by commas.
    allow_hosts: str = ""
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


def check_auth(auth: str, variable: str, address: str, default: str) -> None:
    """Only the off mode is served yet, and only on loopback. `variable` says where to listen."""
    host = address.rpartition(":")[0].strip("[]")
    loopback = host == "localhost" or _is_loopback(host)
    if auth == "on" or (not loopback and auth == ""):
        raise BadSettings(f"STEMMA_AUTH=on is not served yet: listen on loopback ({variable}={default}).")
    if not loopback:
        raise BadSettings(f"STEMMA_AUTH=off is for loopback only: set {variable} to 127.0.0.1 or [::1].")


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
