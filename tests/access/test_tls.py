"""TLS between services, and certificates as a service's identity."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from conversation_service.main import build
from conversation_service.settings import Settings
from kernel.rpc.tls import BadCertificates, TlsFiles, channel_credentials, server_credentials
from tests.access.certificates import Authority, Pair
from tests.access.stage import TENANT, bearer, new_key
from tests.conftest import DatabaseFactory
from tests.drafts.stage import replica
from tests.support.client import Client, Metadata, refusal_of
from tests.support.service import running_service


@pytest.fixture
def urls(database_factory: DatabaseFactory) -> Iterator[tuple[str, str]]:
    with database_factory("sqlite") as canon, database_factory("sqlite", migrated=False) as drafts:
        yield canon, drafts


def trusting(ca: str, pair: Pair | None = None) -> grpc.ChannelCredentials:
    files = TlsFiles(pair.cert if pair else "", pair.key if pair else "", ca)
    credentials = channel_credentials(files)
    assert credentials is not None
    return credentials


async def asked(address: str, credentials: grpc.ChannelCredentials, metadata: Metadata = ()) -> str:
    """What `Introspect`, which is for services, is answered."""
    async with grpc.aio.secure_channel(address, credentials) as channel:
        try:
            await Client(channel, metadata).call("Introspect", tenant=TENANT, principal="ada")
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                return "NO CONNECTION"
            return refusal_of(error).code
        return "OK"


async def test_a_certificate_says_who_is_a_service(urls: tuple[str, str], tmp_path: Path) -> None:
    ours, others = Authority(tmp_path, "ours"), Authority(tmp_path, "others")
    server = ours.pair("conversation")
    settings = {
        "auth": "on",
        "tls_cert": server.cert,
        "tls_key": server.key,
        "tls_client_ca": ours.ca,
        "service_names": "drafts, another",
    }
    async with running_service(urls[0], **settings) as service:
        _, secret = await new_key(service.service.store, "ada", role="owner")  # type: ignore[arg-type]
        address = service.address
        assert await asked(address, trusting(ours.ca, ours.pair("drafts"))) == "OK"
        assert await asked(address, trusting(ours.ca, ours.pair("app"))) == "UNAUTHENTICATED"
        by_key = await asked(address, trusting(ours.ca, ours.pair("app")), bearer(secret))
        assert by_key == "PERMISSION_DENIED"
        assert await asked(address, trusting(ours.ca, others.pair("drafts"))) == "NO CONNECTION"
        assert await asked(address, trusting(ours.ca)) == "NO CONNECTION"
        async with grpc.aio.insecure_channel(address) as plain:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await Client(plain).call("ListProjects")
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_the_draft_service_calls_by_its_certificate(urls: tuple[str, str], tmp_path: Path) -> None:
    ours = Authority(tmp_path, "ours")
    server, drafts = ours.pair("conversation"), ours.pair("drafts")
    common = {"auth": "on", "tls_ca": ours.ca, "tls_client_ca": ours.ca, "service_names": "drafts"}
    of_canon = {"tls_cert": server.cert, "tls_key": server.key, **common}
    of_drafts = {"tls_cert": drafts.cert, "tls_key": drafts.key, **common}
    async with running_service(urls[0], **of_canon) as service:
        _, secret = await new_key(service.service.store, "ada", role="owner")  # type: ignore[arg-type]
        # `replica` dials plainly: what it serves is asked here over TLS.
        async with replica(urls[1], service.address, **of_drafts) as draft:
            credentials = trusting(ours.ca, ours.pair("app"))
            async with (
                grpc.aio.secure_channel(service.address, credentials) as canon,
                grpc.aio.secure_channel(draft.service.address, credentials) as channel,
            ):
                session_id = await Client(canon, bearer(secret)).new_session()
                made = await Client(channel, bearer(secret)).call(
                    "draft.CreateDraft", session_id=session_id, purpose="over TLS"
                )
                assert made.draft.created_by == "ada"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (TlsFiles(cert="there.pem"), "STEMMA_TLS_KEY"),
        (TlsFiles(key="there.pem"), "STEMMA_TLS_CERT"),
        (TlsFiles(cert="missing.pem", key="there.pem"), "STEMMA_TLS_CERT.*cannot be read"),
        (TlsFiles(client_ca="there.pem"), "STEMMA_TLS_CLIENT_CA"),
    ],
)
def test_files_that_do_not_go_together(
    files: TlsFiles, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.pem").write_text("")
    with pytest.raises(BadCertificates, match=says):
        server_credentials(files)


async def test_a_service_that_cannot_read_them_does_not_start(urls: tuple[str, str]) -> None:
    settings = Settings(
        conversation="127.0.0.1:0", conversation_database_url=urls[0], tls_cert="none.pem", tls_key="none.key"
    )
    with pytest.raises(BadCertificates):
        async with build(settings):
            raise AssertionError
