"""Which providers there are, for which settings."""

from collections.abc import AsyncIterator

import pytest

from kernel.errors import Invalid
from kernel.generation import registry
from kernel.generation.credentials import Credentials
from kernel.generation.endpoints import OwnEndpoint
from kernel.generation.local import LocalProvider
from kernel.generation.openai_compatible import OpenAICompatibleProvider
from kernel.generation.registry import Providers, ProviderSettings
from kernel.generation.script import ScriptError
from kernel.generation.scripted import ScriptedProvider
from kernel.net.guard import Guard, allowed_hosts
from kernel.prompt.config import Config, ModelConfig
from kernel.sealing import Seals

HERE = "http://allowed.test/v1"
CREDENTIALS = Credentials(Guard(allowed_hosts("allowed.test")), Seals([bytes(32)]))


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


@pytest.fixture
async def open_to_all() -> AsyncIterator[Providers]:
    providers = Providers(ProviderSettings(default="scripted"), CREDENTIALS)
    yield providers
    await providers.aclose()


async def test_a_configuration_is_written_for_by_its_own_endpoint_or_by_the_servers(
    open_to_all: Providers,
) -> None:
    for model in (ModelConfig(base_url=HERE), ModelConfig("openai", base_url=HERE)):
        assert isinstance(open_to_all.of(model, "t"), OwnEndpoint)
    for model in (ModelConfig(), ModelConfig("scripted", base_url=HERE), ModelConfig(base_url="")):
        assert isinstance(open_to_all.of(model, "t"), ScriptedProvider)
    with pytest.raises(Invalid):
        open_to_all.of(ModelConfig("openai"), "t")
    with pytest.raises(Invalid, match="STEMMA_ALLOW_HOSTS"):
        open_to_all.of(ModelConfig(base_url="http://127.0.0.1:1/v1"), "t")


async def test_a_layer_may_name_openai_whose_endpoint_another_layer_has(open_to_all: Providers) -> None:
    named = Config(model=ModelConfig("openai"))
    assert open_to_all.admitted(named, "config", "t") == named
    with pytest.raises(Invalid) as caught:
        open_to_all.admitted(Config(model=ModelConfig("none")), "config", "t")
    assert [violation.field for violation in caught.value.violations] == ["config.model.provider"]


async def test_without_credentials_there_are_no_endpoints_but_the_servers() -> None:
    providers = Providers(ProviderSettings(default="scripted"))
    for model in (ModelConfig(base_url=HERE), ModelConfig("openai")):
        with pytest.raises(Invalid):
            providers.admitted(Config(model=model), "config", "t")
    assert isinstance(providers.of(ModelConfig(base_url=HERE), "t"), ScriptedProvider)
    await providers.aclose()


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
