"""What is sealed for a tenant opens for that tenant, under any of the keys, and otherwise not at all."""

import base64

import pytest

from kernel.sealing import CannotOpen, Seals

OLD, NEW, OTHER = bytes(range(32)), bytes(range(32, 64)), bytes(32)


def test_a_text_is_sealed_anew_each_time_and_opens() -> None:
    seals = Seals([NEW])
    found = {seals.seal("t", "secret-é") for _ in range(20)}
    assert len(found) == 20
    assert {seals.open("t", sealed) for sealed in found} == {"secret-é"}
    assert all(sealed.isascii() and "secret" not in sealed for sealed in found)
    assert seals.open("t", seals.seal("t", "")) == ""


def test_the_first_key_seals_and_all_of_them_open() -> None:
    sealed = Seals([OLD]).seal("t", "x")
    rotated = Seals([NEW, OLD])
    assert rotated.open("t", sealed) == "x"
    assert Seals([NEW]).open("t", rotated.seal("t", "y")) == "y"
    with pytest.raises(CannotOpen):
        Seals([OLD]).open("t", rotated.seal("t", "y"))
    with pytest.raises(CannotOpen):
        Seals([NEW, OTHER]).open("t", sealed)


def test_another_tenant_cannot_open_it() -> None:
    seals = Seals([NEW])
    with pytest.raises(CannotOpen):
        seals.open("other", seals.seal("t", "x"))


def test_nothing_of_it_can_be_changed() -> None:
    seals = Seals([NEW])
    sealed = seals.seal("t", "secret")
    raw = base64.urlsafe_b64decode(sealed.removeprefix("s1."))
    for at in range(len(raw)):
        changed = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        with pytest.raises(CannotOpen):
            seals.open("t", "s1." + base64.urlsafe_b64encode(changed).decode())


@pytest.mark.parametrize("text", ["", "s1.", "s1.AAAA", "plain", "s1.é", "s1.A", "s1." + "A" * 16])
def test_what_was_never_sealed_does_not_open(text: str) -> None:
    with pytest.raises(CannotOpen):
        Seals([NEW]).open("t", text)


@pytest.mark.parametrize("keys", [[], [b"short"], [NEW, b""]])
def test_there_is_a_key_and_each_is_long_enough(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Seals(keys)
