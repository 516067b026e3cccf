"""How a session talks. None, and an empty list, mean that this layer says nothing. Pure.

The names of the fields are those of stemma.kernel.v1.Config; enums are its numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial, reduce
from typing import Any, Self

from kernel.prompt.merge_patch import merge_patch, without_nulls


@dataclass(frozen=True, slots=True)
class _Layer:
    def over(self, below: Self) -> Self:
        """This layer's values where it has them, else those below; lists replace whole, JSON merges."""
        laid: Self = _over(self, below, frozenset(), "")
        return laid


@dataclass(frozen=True, slots=True)
class ModelConfig(_Layer):
    """`base_url` and `api_key` belong together: a layer that sets another `base_url` without a key has none.
    The key is sealed wherever it is stored; both empty: none, whatever the layers below say."""

    provider: str | None = None
    name: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    extra_json: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BudgetConfig(_Layer):
    """`max_input_tokens` is the whole window; `reserved_output_tokens` of it stay free, and memory takes at
    most `max_memory_tokens` of the rest."""

    max_input_tokens: int | None = None
    reserved_output_tokens: int | None = None
    max_memory_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """Replaced whole, with its list."""

    name: str
    description: str = ""
    parameters_json: str = ""
    side_effect: int = 0
    approval: int = 0
    owner: int = 0
    server: str = ""


@dataclass(frozen=True, slots=True)
class PipelineStage(_Layer):
    enabled: bool | None = None
    prompt: str | None = None
    model: ModelConfig = ModelConfig()
    tools: tuple[str, ...] = ()
    budget: BudgetConfig = BudgetConfig()
    params_json: str | None = None


@dataclass(frozen=True, slots=True)
class PipelineConfig(_Layer):
    director: PipelineStage = PipelineStage()
    narrator: PipelineStage = PipelineStage()
    verifier: PipelineStage = PipelineStage()
    memory: PipelineStage = PipelineStage()


@dataclass(frozen=True, slots=True)
class MemoryPolicy(_Layer):
    mode: int | None = None
    min_importance: float | None = None
    max_items_per_turn: int | None = None
    kinds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """`cleared` names, by their paths, the lists that this layer sets to empty; sorted, and none of
    them given."""

    system_prompt: str | None = None
    model: ModelConfig = ModelConfig()
    budget: BudgetConfig = BudgetConfig()
    tools: tuple[Tool, ...] = ()
    pipeline: PipelineConfig = PipelineConfig()
    memory_policy: MemoryPolicy = MemoryPolicy()
    greetings: tuple[str, ...] = ()
    variables_json: str | None = None
    extensions_json: str | None = None
    cleared: tuple[str, ...] = ()

    def over(self, below: "Config") -> "Config":
        """One layer that says what this one says over the one below, field by field."""
        laid: Config = _over(self, replace(below, cleared=()), frozenset(self.cleared), "")
        still = {path for path in (*below.cleared, *self.cleared) if not value_at(laid, path)}
        return replace(laid, cleared=tuple(sorted(still)))


def effective(*layers: Config) -> Config:
    """What holds when each layer lies over the one before it: nothing cleared, no null members."""
    laid = reduce(lambda below, above: above.over(below), layers, Config())
    return replace(_without_nulls(laid), cleared=())


def value_at(config: Config, path: str) -> Any:
    """The field at a path of names, as in `model.stop`."""
    return reduce(getattr, path.split("."), config)


def with_value(config: Any, path: Sequence[str], value: Any) -> Any:
    """The configuration with another value at a path."""
    if not path:
        return value
    name, *rest = path
    return replace(config, **{name: with_value(getattr(config, name), rest, value)})


def leaves(value: Any = Config(), prefix: str = "") -> list[str]:
    """The paths of every field that holds a value, in the order of the contract, without `cleared`."""
    found: list[str] = []
    for each in fields(value):
        inner, path = getattr(value, each.name), prefix + each.name
        if isinstance(inner, _Layer):
            found += leaves(inner, f"{path}.")
        elif path != "cleared":
            found.append(path)
    return found


LISTS = frozenset(path for path in leaves() if isinstance(value_at(Config(), path), tuple))
MODELS = tuple(path.removesuffix(".api_key") for path in leaves() if path.endswith(".api_key"))


def with_models(config: Config, change: Callable[[str, ModelConfig], ModelConfig]) -> Config:
    """The configuration with each of its models changed; `change` is told its path."""
    for path in MODELS:
        model: ModelConfig = value_at(config, path)
        if (changed := change(path, model)) is not model:
            config = with_value(config, path.split("."), changed)
    return config


def own_endpoints(config: Config) -> tuple[str, ...]:
    """The paths of the models that are asked at an endpoint of the configuration's own."""
    return tuple(path for path in MODELS if value_at(config, path).base_url)


def without_endpoints(config: Config) -> Config:
    """The configuration as a file has it: where a conversation is sent is not for a file to say."""
    nowhere = partial(replace, base_url=None, api_key=None)
    return with_models(config, lambda _, model: nowhere(model) if model.base_url or model.api_key else model)


def without_keys(config: Config) -> Config:
    """The configuration as it may be recorded, or name something."""
    return with_models(config, lambda _, model: replace(model, api_key=None) if model.api_key else model)


def patched(current: Config, given: Config, paths: Sequence[str]) -> Config:
    """The current layer with what the paths name taken from the given one; "" names all of it.

    A list that this gives is cleared no longer, and one that this clears is given no longer. A key stays
    with its address: who cannot read it can neither lose it by writing the rest back, nor send it elsewhere.
    Who names a key alone brings its address with it.
    """
    changed = current
    new_keys = [path for path in paths if path.endswith(".api_key") and value_at(given, path)]
    for path in (*paths, *(path.removesuffix("api_key") + "base_url" for path in new_keys)):
        names = path.split(".") if path else []
        changed = with_value(changed, names, reduce(getattr, names, given))
    newly = set(changed.cleared) - set(current.cleared)
    for path in newly:
        changed = with_value(changed, path.split("."), ())
    changed = with_models(
        changed, lambda path, model: _with_its_key(model, value_at(current, path), path, paths)
    )
    return replace(changed, cleared=tuple(p for p in changed.cleared if not value_at(changed, p)))


def _with_its_key(now: ModelConfig, before: ModelConfig, path: str, named: Sequence[str]) -> ModelConfig:
    if now.base_url != before.base_url:
        foreign = now.api_key is not None and now.api_key == before.api_key
        return replace(now, api_key=None) if foreign else now
    if now.api_key is None and f"{path}.api_key" not in named:
        return replace(now, api_key=before.api_key)
    return now


def sources(layers: Sequence[tuple[str, Config]]) -> dict[str, str]:
    """Which of the named layers, lowest first, decides each field that any of them speaks of.

    The highest one does; for JSON, all that say something, joined by `+`.
    """
    found = {}
    for path in leaves():
        speaking = [name for name, layer in layers if _speaks(layer, path)]
        if speaking:
            found[path] = "+".join(speaking) if path.endswith("_json") else speaking[-1]
    return found


def size(value: Any) -> int:
    """Roughly the bytes that a configuration takes: its texts, and a little for each."""
    if isinstance(value, str):
        return len(value.encode()) + 4
    if isinstance(value, tuple):
        return sum(size(item) for item in value)
    if hasattr(value, "__dataclass_fields__"):
        return sum(size(getattr(value, each.name)) for each in fields(value))
    return 4


def _over(above: Any, below: Any, cleared: frozenset[str], prefix: str) -> Any:
    values = {}
    for name in (each.name for each in fields(above)):
        values[name] = _field(getattr(above, name), getattr(below, name), cleared, prefix + name)
    if isinstance(above, ModelConfig) and above.base_url is not None:
        values["api_key"] = above.api_key
    return type(above)(**values)


def _field(above: Any, below: Any, cleared: frozenset[str], path: str) -> Any:
    if isinstance(above, _Layer):
        return _over(above, below, cleared, f"{path}.")
    if isinstance(above, tuple):
        return () if not above and path in cleared else above or below
    if above is None or below is None:
        return below if above is None else above
    return merge_patch(below, above) if path.endswith("_json") else above


def _speaks(layer: Config, path: str) -> bool:
    value = value_at(layer, path)
    if value is None and path.endswith(".api_key"):
        # Who names the address says that it has no key.
        return value_at(layer, path.removesuffix("api_key") + "base_url") is not None
    return path in layer.cleared or (bool(value) if isinstance(value, tuple) else value is not None)


def _without_nulls(config: Config) -> Config:
    for path in leaves():
        if path.endswith("_json") and (text := value_at(config, path)) is not None:
            config = with_value(config, path.split("."), without_nulls(text))
    return config
