"""The environment's settings: what a service refuses to start with, and what it says then."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from conversation_service.settings import BadSettings, Settings, auth_is_on, guard, secret_keys
from kernel.net.addresses import AddressRefused

KEY, OTHER = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))


def made(**values: Any) -> Settings:
    return Settings(**values)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:50051", "127.8.9.10:0", "[::1]:50051", "localhost:1", "::1:50051"]
)
@pytest.mark.parametrize("auth", ["", "off"])
def test_auth_is_off_on_loopback(address: str, auth: str) -> None:
    assert not auth_is_on(made(conversation=address, auth=auth))


@pytest.mark.parametrize(
    "address",
    [
        *["0.0.0.0:50051", "[::]:50051", "10.0.0.1:1", "example.org:1", "localhost.example.org:1", ":1", ""],
        *["127.0.0.1.example.org:1", "[fe80::1]:1", "192.168.0.1:50051", "2130706433:1", "50051"],
    ],
)
def test_no_other_address_starts_without_auth(address: str) -> None:
    assert auth_is_on(made(conversation=address, auth=""))
    assert auth_is_on(made(conversation=address, auth="on"))
    with pytest.raises(BadSettings, match=r"STEMMA_AUTH=off.*(127\.0\.0\.1)"):
        auth_is_on(made(conversation=address, auth="off"))


def test_auth_can_be_on_on_loopback() -> None:
    assert auth_is_on(made(auth="on"))


@pytest.mark.parametrize("name", ["auth", "log_format"])
def test_other_words_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        made(**{name: "maybe"})


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "not base64!",
        base64.b64encode(bytes(31)).decode(),
        base64.b64encode(bytes(33)).decode(),
        KEY[:-1],
        f"{KEY},",
        f",{KEY}",
        f"{KEY},{KEY[:-4]}",
        f"{KEY} {OTHER}",
        f"{KEY[:20]}\n{KEY[20:]}",
        "ключ",
        "    ",
    ],
)
def test_a_bad_secret_key_is_refused_without_showing_it(text: str) -> None:
    settings = made(secret_key=text)
    with pytest.raises(BadSettings, match="32 bytes in base64") as caught:
        secret_keys(settings)
    assert text.strip() not in str(caught.value) or not text.strip()
    assert text not in repr(settings) or len(text) < 2


def test_several_keys_are_for_rotation_newest_first() -> None:
    assert secret_keys(made(secret_key=KEY)) == [bytes([1]) * 32]
    assert secret_keys(made(secret_key=f"{OTHER}, {KEY}")) == [bytes([2]) * 32, bytes([1]) * 32]


def test_postgres_needs_a_key_and_says_how_to_make_one(tmp_path: Path) -> None:
    settings = made(data=tmp_path, conversation_database_url="postgresql://db/stemma")
    with pytest.raises(BadSettings, match="STEMMA_SECRET_KEY is required with PostgreSQL"):
        secret_keys(settings)
    assert list(tmp_path.iterdir()) == []


def test_the_embedded_default_makes_a_key_once(tmp_path: Path) -> None:
    settings = made(data=tmp_path / "new" / "data")
    (first,) = secret_keys(settings)
    assert len(first) == 32
    assert secret_keys(settings) == [first]
    (kept,) = settings.data.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600, "nobody else may read it"
    (other,) = secret_keys(made(data=tmp_path / "other"))
    assert other != first


def test_a_spoilt_kept_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("half of it")
    with pytest.raises(BadSettings, match="32 bytes"):
        secret_keys(made(data=tmp_path))


def test_the_database_is_sqlite_below_data_unless_named(tmp_path: Path) -> None:
    assert made(data=tmp_path).database_url == f"sqlite:///{tmp_path}/conversation.db"
    assert made(conversation_database_url="postgresql://h/d").database_url == "postgresql://h/d"


def test_settings_come_from_the_environment_by_their_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STEMMA_SECRET_KEY", KEY), ("STEMMA_CONVERSATION", "[::1]:7"), ("SCRIPT", "no")):
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert (settings.secret_key, settings.conversation, settings.script) == (KEY, "[::1]:7", "")
    assert KEY not in repr(settings)


def test_hosts_that_configurations_may_name_are_allowed_by_the_operator_alone() -> None:
    with pytest.raises(AddressRefused):
        guard(made()).check("http://127.0.0.1:11434/v1")
    guard(made(allow_hosts="127.0.0.1:11434, models.lan")).check("http://127.0.0.1:11434/v1")
    with pytest.raises(BadSettings, match=r"STEMMA_ALLOW_HOSTS.*'http://h'"):
        guard(made(allow_hosts="localhost, http://h"))
