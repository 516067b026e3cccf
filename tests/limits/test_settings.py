"""What the operator sets, and what holds where nothing is set."""

from typing import Any

import pytest
from pydantic import ValidationError

from conversation_service.settings import Settings, explained
from kernel.rpc.admission import Gate
from kernel.rpc.limits import TenantLimits
from kernel.rpc.quotas import Limits
from kernel.wire.limiting import tenant_limits_of


def limits(*, access: bool, **settings: Any) -> TenantLimits:
    return tenant_limits_of(Settings(**settings), access)


async def test_with_access_off_nothing_is_asked_at_all() -> None:
    """Not even a step that returns at once."""
    assert limits(access=False) == TenantLimits()
    assert Limits(limits(access=False)).steps(Gate(1, 1, 1)) == []
    assert len(Limits(limits(access=True)).steps(Gate(1, 1, 1))) == 1


def test_with_access_on_there_are_generous_defaults() -> None:
    assert limits(access=True) == TenantLimits(rate=2_000, burst=4_000, streams=500, fair=True)


def test_what_is_set_holds_either_way_and_nought_is_none() -> None:
    for access in (False, True):
        assert limits(access=access, tenant_rate=10) == TenantLimits(
            rate=10, burst=20, streams=500 if access else None, fair=access
        )
        assert limits(access=access, tenant_rate=10, tenant_burst=3).burst == 3
        none = limits(access=access, tenant_rate=0, tenant_streams=0)
        assert (none.rate, none.streams) == (None, None)


NAMES = ["rate", "burst", "streams", "stored_bytes", "tokens_per_day"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["-1", "many", "1.5", "1e3", str(2**63)])
def test_other_values_are_refused_by_the_variables_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"STEMMA_TENANT_{name.upper()}", value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    assert f"STEMMA_TENANT_{name.upper()}" in explained(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_variable_is_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"STEMMA_TENANT_{name.upper()}", "")
    assert getattr(Settings(), f"tenant_{name}") is None
