"""TLS of servers and of the channels between services, from files that the operator names."""

from dataclasses import dataclass
from pathlib import Path

import grpc


class BadCertificates(Exception):
    """A file cannot be read; the text says which setting names it."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files, "" for none. A server shows `cert`, and with `client_ca` lets in only clients that show a
    certificate of it; a channel trusts `ca` and shows `cert`."""

    cert: str = ""
    key: str = ""
    ca: str = ""
    client_ca: str = ""


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials | None:
    """None for a plain server. Raises BadCertificates."""
    if not files.cert and not files.key:
        if files.client_ca:
            raise BadCertificates("STEMMA_TLS_CLIENT_CA needs STEMMA_TLS_CERT and STEMMA_TLS_KEY beside it.")
        return None
    pair = (_read(files.key, "STEMMA_TLS_KEY"), _read(files.cert, "STEMMA_TLS_CERT"))
    if not files.client_ca:
        return grpc.ssl_server_credentials([pair])
    trusted = _read(files.client_ca, "STEMMA_TLS_CLIENT_CA")
    return grpc.ssl_server_credentials([pair], root_certificates=trusted, require_client_auth=True)


def channel_credentials(files: TlsFiles) -> grpc.ChannelCredentials | None:
    """None for a plain channel: without `ca`. Raises BadCertificates."""
    if not files.ca:
        return None
    trusted = _read(files.ca, "STEMMA_TLS_CA")
    if not files.cert:
        return grpc.ssl_channel_credentials(trusted)
    key, cert = _read(files.key, "STEMMA_TLS_KEY"), _read(files.cert, "STEMMA_TLS_CERT")
    return grpc.ssl_channel_credentials(trusted, key, cert)


def _read(path: str, setting: str) -> bytes:
    if not path:
        raise BadCertificates(f"{setting} is missing: certificate and key belong together.")
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadCertificates(f"{setting} names a file that cannot be read: {error.strerror}.") from None
