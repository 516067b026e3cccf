"""Who is let in, and with which credential the conversation service is asked.

Off, everybody on this machine; on, who brings a token that is checked here, or a key that the conversation
service knows.
"""

from dataclasses import dataclass

import grpc

from draft_service.clients.conversation import OPTIONS, Metadata
from draft_service.clients.introspection import Introspection
from draft_service.settings import Settings, auth_is_on
from kernel.rpc.call import Authenticator, LocalAuthenticator
from kernel.rpc.dial import target
from kernel.rpc.tls import channel_credentials, server_credentials
from kernel.service_settings import authentication, service_keys, tls_files


@dataclass(frozen=True, slots=True)
class Door:
    """`on`: whether access is. `tls` is None for a plain server; `introspection` says who somebody is."""

    on: bool
    authenticator: Authenticator
    introspection: Introspection
    tls: grpc.ServerCredentials | None


def own_metadata(settings: Settings) -> Metadata:
    """The service's own credential, for its calls. Raises BadSettings."""
    keys = service_keys(settings)
    return (("authorization", f"Bearer {keys[0]}"),) if keys else ()


def channel(settings: Settings) -> grpc.aio.Channel:
    """To the conversation service. Raises BadCertificates."""
    credentials = channel_credentials(tls_files(settings))
    where = target(settings.conversation)
    if credentials is None:
        return grpc.aio.insecure_channel(where, options=OPTIONS)
    return grpc.aio.secure_channel(where, credentials, options=OPTIONS)


def door(settings: Settings, conversation: grpc.aio.Channel) -> Door:
    """Raises BadSettings."""
    introspection = Introspection(conversation, own_metadata(settings))
    tls = server_credentials(tls_files(settings))
    if not auth_is_on(settings):
        return Door(False, LocalAuthenticator(), introspection, tls)
    return Door(True, authentication(settings, [introspection]), introspection, tls)
