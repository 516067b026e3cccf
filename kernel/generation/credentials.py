"""Keys of a caller's own model endpoints: from a configuration that is given to one that is stored.

A key is sealed together with the address that it was given for. Wherever layers, patches or old versions
may put it, it opens for that address and for no other.
"""

from dataclasses import replace

from kernel.errors import FailedPrecondition, invalid
from kernel.net.guard import AddressRefused, Guard
from kernel.prompt.config import MODELS, Config, ModelConfig, value_at, with_value
from kernel.sealing import CannotOpen, Seals

# In neither part: the address is plain, and a key is one line.
_BETWEEN = "\n"


class Credentials:
    """Checks addresses, and seals and opens keys, under one server's settings."""

    def __init__(self, guard: Guard, seals: Seals) -> None:
        self.guard = guard
        self._seals = seals

    def admitted(self, config: Config, field: str, tenant: str) -> Config:
        """A checked configuration as it may be stored: its keys sealed.

        Raises:
            Invalid: An address in it may not be asked.
        """
        for path in MODELS:
            model: ModelConfig = value_at(config, path)
            if model.base_url:
                self._check(model.base_url, f"{field}.{path}.base_url")
            if model.api_key:
                sealed = self._seals.seal(tenant, f"{model.base_url}{_BETWEEN}{model.api_key}")
                config = with_value(config, path.split("."), replace(model, api_key=sealed))
        return config

    def key(self, model: ModelConfig, tenant: str) -> str:
        """The key to send to `model.base_url`; empty for none.

        Raises:
            Invalid: The address may not be asked any more.
            FailedPrecondition: The key cannot be read: the server's own was replaced.
        """
        assert model.base_url, "who asks has an endpoint"
        self._check(model.base_url, "config.model.base_url")
        if not model.api_key:
            return ""
        try:
            base_url, _, key = self._seals.open(tenant, model.api_key).partition(_BETWEEN)
        except CannotOpen:
            raise FailedPrecondition(
                "SECRET_UNREADABLE",
                "config.model.api_key cannot be read under this server's STEMMA_SECRET_KEY: set it again.",
            ) from None
        return key if base_url == model.base_url else ""

    def _check(self, base_url: str, field: str) -> None:
        try:
            self.guard.check(base_url)
        except AddressRefused as error:
            raise invalid(field, error.message) from None
