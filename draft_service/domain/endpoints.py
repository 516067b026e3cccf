"""A draft does not get its source's own model endpoints, and so must say what it asks instead. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from kernel.errors import Invalid, Violation
from kernel.prompt.config import Config, value_at, with_models

_WHY = (
    "must name a provider, or a base_url: the source asks this model at an endpoint of its own, which stays "
    "there with its key"
)


def check_endpoints(given: Config, left: Sequence[str], field: str) -> None:
    """INVALID for each of those models that the given configuration says nothing about: the model of that
    name would be asked for elsewhere, or another one would answer unasked."""
    silent = [path for path in left if not _says(given, path)]
    if silent:
        raise Invalid(*(Violation(f"{field}.{path}", _WHY) for path in silent))


def without_their_names(frozen: Config, left: Sequence[str]) -> Config:
    """The names that those models have are known at those endpoints only."""
    return with_models(frozen, lambda path, model: replace(model, name=None) if path in left else model)


def _says(given: Config, path: str) -> bool:
    model = value_at(given, path)
    return bool(model.provider or model.base_url)
