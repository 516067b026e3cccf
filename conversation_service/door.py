"""Who is let in: off, everybody on this machine; on, who brings a key, a token or a service's credential."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import grpc

from conversation_service.rpc.key_verifier import KeyVerifier
from conversation_service.settings import Settings, auth_is_on
from conversation_service.storage.keys import SqlKeyIndex
from kernel.rpc.call import Authenticator, LocalAuthenticator
from kernel.rpc.tls import server_credentials
from kernel.service_settings import authentication, tls_files
from kernel.storage.engine import Engines


@dataclass(frozen=True, slots=True)
class Door:
    """`on`: whether access is. `keys` knows the tenants' API keys; `tls` is None for a plain server."""

    on: bool
    authenticator: Authenticator
    keys: KeyVerifier
    tls: grpc.ServerCredentials | None


def door(settings: Settings, engines: Engines, clock: Callable[[], datetime]) -> Door:
    """Raises BadSettings."""
    keys = KeyVerifier(SqlKeyIndex(engines), clock)
    tls = server_credentials(tls_files(settings))
    if not auth_is_on(settings):
        return Door(False, LocalAuthenticator(), keys, tls)
    return Door(True, authentication(settings, [keys]), keys, tls)
