"""Which providers there are, for which settings."""

import pytest

from kernel.errors import Invalid
from kernel.generation import registry
from kernel.generation.local import LocalProvider
from kernel.generation.openai_compatible import OpenAICompatibleProvider
from kernel.generation.registry import Providers, ProviderSettings
from kernel.generation.script import ScriptError
from kernel.generation.scripted import ScriptedProvider


@pytest.fixture
def without_local_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "local_model_available", lambda: False)


@pytest.mark.usefixtures("without_local_model")
async def test_the_scripted_provider_is_always_there_and_the_last_default() -> None:
    providers = Providers(ProviderSettings())
    assert providers.names == ("scripted",)
    assert providers.default_name == "scripted"
    assert isinstance(providers.get(None), ScriptedProvider)
    await providers.aclose()


@pytest.mark.local_model
async def test_the_installed_local_model_is_the_default() -> None:
    providers = Providers(ProviderSettings())
    assert providers.names == ("local", "scripted")
    assert providers.default_name == "local"
    provider = providers.get("")
    assert isinstance(provider, LocalProvider)
    assert provider.process.pid is None
    await providers.aclose()


@pytest.mark.parametrize(
    "settings",
    [ProviderSettings(openai_base_url="http://127.0.0.1:1/v1"), ProviderSettings(openai_api_key="k")],
)
async def test_openai_is_there_when_an_address_or_a_key_is_set(settings: ProviderSettings) -> None:
    providers = Providers(settings)
    assert "openai" in providers.names
    provider = providers.get("openai")
    assert isinstance(provider, OpenAICompatibleProvider)
    assert providers.get("openai") is provider
    await providers.aclose()


@pytest.mark.parametrize("name", ["openai", "none", "Scripted"])
async def test_an_unknown_or_unconfigured_name_is_invalid(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        Providers(ProviderSettings(default="scripted")).get(name)
    assert [violation.field for violation in caught.value.violations] == ["config.model.provider"]


def test_bad_settings_show_at_the_start() -> None:
    with pytest.raises(Invalid):
        Providers(ProviderSettings(default="openai"))
    with pytest.raises(ScriptError):
        Providers(ProviderSettings(script="{"))


def test_the_key_is_not_shown() -> None:
    assert "sk-secret" not in repr(ProviderSettings(openai_api_key="sk-secret"))


async def test_a_test_may_put_its_own_provider_in_place() -> None:
    providers = Providers(ProviderSettings(default="scripted"))
    mine = ScriptedProvider(record=True)
    providers.use(mine)
    assert providers.get(None) is mine
    await providers.aclose()
