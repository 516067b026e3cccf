"""What the environment decides. Read once, by `main`; nothing is read at import."""

import ipaddress
import re
from typing import Annotated, Literal, Self

from pydantic import PositiveFloat, PositiveInt, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from kernel.rpc.dial import target
from kernel.rpc.tls import TlsFiles

_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/@]+):(?P<port>\d{1,5})")


def split_address(text: str) -> tuple[str, int]:
    """`host:port` or `[v6]:port` as (host without brackets, port). ValueError when it is neither."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise ValueError("must be HOST:PORT, with an IPv6 address in brackets")
    return match["host"].strip("[]"), int(match["port"])


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address with this host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Settings(BaseSettings):
    """Environment variables, each with the prefix `STEMMA_`. Times are seconds, sizes bytes."""

    model_config = SettingsConfigDict(env_prefix="STEMMA_", frozen=True, extra="ignore")

    # Where to listen; port 0 picks one.
    http: str = "127.0.0.1:8080"
    # The conversation service, as dialled; several replicas by commas.
    conversation: str = "127.0.0.1:50051"
    # The draft service, the same way.
    draft: str = "127.0.0.1:50052"
    # Unset: `off` on loopback, `on` elsewhere.
    auth: Literal["off", "on"] | None = None
    # Host names, comma-separated, that a Host header may hold besides loopback's and our own.
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    # PEM files for the channels to the services: whom they trust (unset: they are plain), and what they show
    # to services that ask for a certificate.
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""

    # Where GET /metrics is answered, for Prometheus; empty: nowhere.
    gateway_metrics: str = ""

    # What is logged, one line for each request, and how.
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["json", "console"] = "json"

    # For the answer of a service.
    gateway_call_timeout: PositiveFloat = 30
    # For a whole body; of a file to import, for the next piece of it.
    gateway_body_timeout: PositiveFloat = 30
    # For a request's head.
    gateway_header_timeout: PositiveFloat = 10
    # JSON is larger than the wire encoding (names, base64), which may have 4 MiB.
    gateway_max_body: PositiveInt = 6 * 1024 * 1024
    # A file to import; the service takes no more either.
    gateway_max_file: PositiveInt = 1024**3
    # How long open responses may go on after SIGTERM.
    gateway_drain: PositiveInt = 8
    # Between two comments on a stream of events that has nothing to say.
    gateway_sse_ping: PositiveFloat = 15

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(host.strip().lower() for host in value.split(",") if host.strip())
        return value

    @field_validator("http")
    @classmethod
    def _check_address(cls, value: str) -> str:
        split_address(value)
        return value

    @field_validator("conversation", "draft")
    @classmethod
    def _check_replicas(cls, value: str) -> str:
        for address in value.split(","):
            split_address(address)
        target(value)
        return value

    @model_validator(mode="after")
    def _check_auth(self) -> Self:
        loopback = is_loopback(split_address(self.http)[0])
        if self.auth == "off" and not loopback:
            raise ValueError(
                "STEMMA_AUTH=off is for loopback addresses only, and STEMMA_HTTP is not one: "
                "anybody who reaches it could read and write every conversation."
            )
        if not self.access_on and self.tls.ca and self.tls.cert:
            raise ValueError(
                "STEMMA_AUTH=off and STEMMA_TLS_CERT exclude each other: everybody here would call the "
                "services by that certificate. Set STEMMA_AUTH=on, or leave the certificate out."
            )
        return self

    @property
    def access_on(self) -> bool:
        """Whether callers need a credential."""
        return self.auth == "on" or not is_loopback(split_address(self.http)[0])

    @property
    def tls(self) -> TlsFiles:
        return TlsFiles(cert=self.tls_cert, key=self.tls_key, ca=self.tls_ca)

    @property
    def host_names(self) -> frozenset[str]:
        """Every name that a Host header may hold, without port and brackets."""
        own = split_address(self.http)[0].lower()
        return frozenset({"localhost", "127.0.0.1", "::1", own, *self.allowed_hosts})
