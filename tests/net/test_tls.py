"""Over TLS the address is connected and the name is asked for, and checked."""

import datetime
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kernel.net import guard
from kernel.net.addresses import IPAddress
from kernel.net.guard import Guard, allowed_hosts, guarded_client
from tests.net.trap import Trap, trap


async def here(host: str, port: int) -> Sequence[IPAddress]:
    return [ip_address("127.0.0.1")]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of box.test, by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "box.test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("box.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = tmp_path / "box.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return file


@pytest.fixture
def names(certificate: Path) -> tuple[ssl.SSLContext, list[str | None]]:
    """A server's side, and the names that it is asked for."""
    context, asked = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), []
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: asked.append(name)
    return context, asked


async def get(server: Trap, name: str) -> str:
    async with guarded_client(Guard(allowed_hosts("box.test,other.test"), resolve=here)) as client:
        return (await client.get(f"https://{name}:{server.port}/")).text


async def test_a_certificate_must_be_trusted_and_of_the_name_that_was_asked(
    monkeypatch: pytest.MonkeyPatch, certificate: Path, names: tuple[ssl.SSLContext, list[str | None]]
) -> None:
    context, asked = names
    async with trap(tls=context) as server:
        with pytest.raises(httpx2.ConnectError):
            await get(server, "box.test")
        trusting = ssl.create_default_context(cafile=str(certificate))
        monkeypatch.setattr(guard, "_tls", lambda: trusting)
        assert await get(server, "box.test") == "ok"
        with pytest.raises(httpx2.ConnectError):
            await get(server, "other.test")
    assert asked == ["box.test", "box.test", "other.test"]
    assert len(server.heads) == 1
