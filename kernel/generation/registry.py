"""Which providers a server has, by name."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kernel.errors import invalid
from kernel.generation.credentials import Credentials
from kernel.generation.endpoints import EndpointClients, OwnEndpoint
from kernel.generation.local import LocalProvider, local_model_available
from kernel.generation.openai_compatible import OPENAI_BASE_URL, OpenAICompatibleProvider, OpenAISettings
from kernel.generation.provider import Provider
from kernel.generation.script import load_script
from kernel.generation.scripted import ScriptedProvider
from kernel.prompt.config import MODELS, Config, ModelConfig, value_at

_OPENAI = "openai"


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """As the environment gives them; empty means not set.

    Attributes:
        default: The provider of sessions that name none (STEMMA_PROVIDER). Empty: `local` when the
            local model is installed, else `scripted`.
        openai_base_url: STEMMA_OPENAI_BASE_URL.
        openai_api_key: STEMMA_OPENAI_API_KEY. This or the base URL makes `openai` available.
        openai_model: STEMMA_MODEL.
        script: STEMMA_SCRIPT, inline JSON or a file's path.
        streams: STEMMA_PROVIDER_STREAMS: answers that one endpoint writes at once.
        waiting: STEMMA_PROVIDER_QUEUE: calls that may wait for one of them.
    """

    default: str = ""
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    openai_model: str = ""
    script: str = ""
    streams: int = 256
    waiting: int = 256


class Providers:
    """Every provider that is configured; each is made when it is first asked for. With `credentials`,
    configurations may bring endpoints of their own.

    Raises:
        Invalid: The default is not among them.
        ScriptError: The script is not valid. Both at construction, so that a server with bad
            settings does not start.
    """

    def __init__(self, settings: ProviderSettings, credentials: Credentials | None = None) -> None:
        script = load_script(settings.script)
        self._credentials = credentials
        self._own = EndpointClients(
            lambda base_url, key: OpenAICompatibleProvider(_own(settings, base_url, key, credentials))
        )
        self._makers: dict[str, Callable[[], Provider]] = {"scripted": lambda: ScriptedProvider(script)}
        if settings.openai_base_url or settings.openai_api_key:
            self._makers[_OPENAI] = lambda: OpenAICompatibleProvider(_openai(settings))
        if local_model_available():
            self._makers["local"] = LocalProvider
        self._made: dict[str, Provider] = {}
        self.default_name = settings.default or ("local" if "local" in self._makers else "scripted")
        self._check(self.default_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The configured ones, sorted."""
        return tuple(sorted(self._makers))

    def get(self, name: str | None) -> Provider:
        """The named one, or the default for None and "". Starts nothing.

        Raises:
            Invalid: There is no such provider here (`config.model.provider`).
        """
        name = name or self.default_name
        self._check(name)
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def admitted(self, config: Config, field: str, tenant: str) -> Config:
        """A checked configuration as it may be stored, and used in this tenant: its keys are sealed.

        Raises:
            Invalid: It names a provider that is not here, or an endpoint that may not be asked.
        """
        name = config.model.provider
        # An endpoint of its own may come from another layer: then it is looked for when it is used.
        if name is not None and name not in self.names and (name != _OPENAI or self._credentials is None):
            raise invalid(
                f"{field}.model.provider", f"is not configured here; use one of: {', '.join(self.names)}"
            )
        if self._credentials is not None:
            return self._credentials.admitted(config, field, tenant)
        if any(value_at(config, path).base_url for path in MODELS):
            raise invalid(f"{field}.model.base_url", "is not served here")
        return config

    def of(self, model: ModelConfig, tenant: str) -> Provider:
        """Who writes for an effective configuration: the named one, the default, or the configuration's
        own endpoint. Starts nothing, and connects nothing; keep it no longer than a run.

        Raises:
            Invalid: There is no such provider here, or the endpoint may not be asked any more.
            FailedPrecondition: SECRET_UNREADABLE: the endpoint's key has to be set again.
        """
        if model.base_url and self._credentials is not None and model.provider in (None, _OPENAI):
            return OwnEndpoint(self._own, model.base_url, self._credentials.key(model, tenant))
        return self.get(model.provider)

    def use(self, provider: Provider) -> None:
        """Puts `provider` in the place of the one with its name: for tests that watch or gate it."""
        self._makers[provider.name] = lambda: provider
        self._made[provider.name] = provider

    async def aclose(self) -> None:
        """Closes what was made; runs must have ended."""
        await self._own.aclose()
        made, self._made = list(self._made.values()), {}
        for provider in made:
            await provider.aclose()

    def _check(self, name: str) -> None:
        if name not in self._makers:
            raise invalid(
                "config.model.provider", f"Not configured here. Use one of: {', '.join(self.names)}."
            )


def _openai(settings: ProviderSettings) -> OpenAISettings:
    return OpenAISettings(
        base_url=settings.openai_base_url or OPENAI_BASE_URL,
        api_key=settings.openai_api_key,
        model=settings.openai_model,
        streams=settings.streams,
        waiting=settings.waiting,
    )


def _own(
    settings: ProviderSettings, base_url: str, api_key: str, credentials: Credentials | None
) -> OpenAISettings:
    assert credentials is not None, "who made the address passed it"
    return OpenAISettings(
        base_url=base_url,
        api_key=api_key,
        streams=settings.streams,
        waiting=settings.waiting,
        guard=credentials.guard,
    )
