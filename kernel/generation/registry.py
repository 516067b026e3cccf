"""Which providers a server has, by name."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kernel.errors import invalid
from kernel.generation.local import LocalProvider, local_model_available
from kernel.generation.openai_compatible import OPENAI_BASE_URL, OpenAICompatibleProvider, OpenAISettings
from kernel.generation.provider import Provider
from kernel.generation.script import load_script
from kernel.generation.scripted import ScriptedProvider


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
    """

    default: str = ""
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    openai_model: str = ""
    script: str = ""


class Providers:
    """Every provider that is configured; each is made when it is first asked for.

    Raises:
        Invalid: The default is not among them.
        ScriptError: The script is not valid. Both at construction, so that a server with bad
            settings does not start.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        script = load_script(settings.script)
        self._makers: dict[str, Callable[[], Provider]] = {"scripted": lambda: ScriptedProvider(script)}
        if settings.openai_base_url or settings.openai_api_key:
            self._makers["openai"] = lambda: OpenAICompatibleProvider(_openai(settings))
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

    def use(self, provider: Provider) -> None:
        """Puts `provider` in the place of the one with its name: for tests that watch or gate it."""
        self._makers[provider.name] = lambda: provider
        self._made[provider.name] = provider

    async def aclose(self) -> None:
        """Closes what was made; runs must have ended."""
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
    )
