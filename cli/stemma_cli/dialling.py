"""How a service is reached: plain or by TLS, and with the API key of whoever typed the command."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from stemma_cli.errors import UsageError
from stemma_cli.output import Output
from stemma_cli.running.environment import is_loopback

KEY, KEY_FILE = "STEMMA_API_KEY", "STEMMA_API_KEY_FILE"
_VISIBLE = re.compile(r"[!-~]{1,8192}")
_OPTIONS = [
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # Back soon after a restart.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # The service is ours, and near: no proxy in between.
    ("grpc.enable_http_proxy", 0),
]


def dial(address: str, settings: Mapping[str, str] = os.environ) -> grpc.Channel:
    """A channel that connects with its first call, and brings the key with each. To be closed. Raises
    UsageError for a key or a certificate that cannot be used."""
    secure = _tls(settings)
    channel = (
        grpc.insecure_channel(address, options=_OPTIONS)
        if secure is None
        else grpc.secure_channel(address, secure, options=_OPTIONS)
    )
    key = api_key(settings)
    if key and secure is None and not is_loopback(address):
        Output(as_json=False).warn(
            f"The key goes to {address} in the clear: set STEMMA_TLS_CA where it speaks TLS."
        )
    return grpc.intercept_channel(channel, _Brings(key)) if key else channel


def api_key(settings: Mapping[str, str]) -> str:
    """Of STEMMA_API_KEY, else what is in the file of STEMMA_API_KEY_FILE; "" for none."""
    found, where = settings.get(KEY, "").strip(), KEY
    if not found and (path := settings.get(KEY_FILE)):
        where = KEY_FILE
        try:
            found = Path(path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"{KEY_FILE} names a file that cannot be read.") from None
    if found and not _VISIBLE.fullmatch(found):
        raise UsageError(f"{where} holds no key: a key is one word of visible characters.")
    return found


def _tls(settings: Mapping[str, str]) -> grpc.ChannelCredentials | None:
    if not settings.get("STEMMA_TLS_CA"):
        return None
    from kernel.rpc.tls import BadCertificates, TlsFiles, channel_credentials

    cert, key, ca = (settings.get(f"STEMMA_TLS_{name}", "") for name in ("CERT", "KEY", "CA"))
    try:
        return channel_credentials(TlsFiles(cert, key, ca))
    except BadCertificates as error:
        raise UsageError(str(error)) from None


class _Details(NamedTuple):
    """What a call is made with, as grpc asks for it."""

    method: str
    timeout: float | None
    metadata: list[tuple[str, str | bytes]]
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: Any


class _Brings(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Adds the credential to every call."""

    def __init__(self, key: str) -> None:
        self._pair = ("authorization", f"Bearer {key}")

    def _call(self, proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        metadata = [*(details.metadata or ()), self._pair]
        return proceed(
            _Details(
                details.method,
                details.timeout,
                metadata,
                details.credentials,
                details.wait_for_ready,
                details.compression,
            ),
            request,
        )

    # Four names for one deed: whatever streams, only the details change.
    intercept_unary_unary = _call  # type: ignore[assignment]
    intercept_unary_stream = _call  # type: ignore[assignment]
    intercept_stream_unary = _call  # type: ignore[assignment]
    intercept_stream_stream = _call  # type: ignore[assignment]
