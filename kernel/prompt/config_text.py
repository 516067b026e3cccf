"""A configuration as canonical text: what is stored, and what an override is named by."""

import json
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from kernel.prompt.config import (
    BudgetConfig,
    Config,
    MemoryPolicy,
    ModelConfig,
    PipelineConfig,
    PipelineStage,
    Tool,
    without_keys,
)

_STAGES = ("director", "narrator", "verifier", "memory")


def config_text(config: Config) -> str:
    """JSON with sorted keys, of what the layer says. JSON inside it is text, kept to the letter."""
    return json.dumps(_values(config), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def config_from_text(text: str) -> Config:
    """What `config_text` wrote; for no text, a layer that says nothing."""
    values = json.loads(text) if text else {}
    stages = values.pop("pipeline", {})
    return Config(
        model=_layer(ModelConfig, values.pop("model", {})),
        budget=_layer(BudgetConfig, values.pop("budget", {})),
        tools=tuple(Tool(**tool) for tool in values.pop("tools", ())),
        pipeline=PipelineConfig(**{name: _stage(stages.get(name, {})) for name in _STAGES}),
        memory_policy=_layer(MemoryPolicy, values.pop("memory_policy", {})),
        **_tuples(values),
    )


def override_name(overrides: Config) -> str:
    """A call's layer, by its content without keys: equal ones have one name."""
    return sha256(config_text(without_keys(overrides)).encode()).hexdigest()[:16]


def _values(value: Any) -> Any:
    """Dataclasses as dicts of what they say, tuples as lists."""
    if isinstance(value, tuple):
        return [_values(item) for item in value]
    if not is_dataclass(value):
        return value
    found = {field.name: _values(getattr(value, field.name)) for field in fields(value)}
    return {name: inner for name, inner in found.items() if inner is not None and inner not in ([], {})}


def _stage(values: dict[str, Any]) -> PipelineStage:
    model, budget = values.pop("model", {}), values.pop("budget", {})
    return PipelineStage(
        model=_layer(ModelConfig, model), budget=_layer(BudgetConfig, budget), **_tuples(values)
    )


def _layer(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**_tuples(values))


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
