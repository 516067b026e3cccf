"""Configuration, to and from the contract."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from stemma.kernel.v1 import config_pb2

from kernel.errors import Invalid, Violation
from kernel.prompt.config import (
    LISTS,
    BudgetConfig,
    Config,
    MemoryPolicy,
    ModelConfig,
    PipelineConfig,
    PipelineStage,
    Tool,
    value_at,
)
from kernel.wire import config_checks
from kernel.wire.config_checks import MAX_STOPS, MAX_SYSTEM_PROMPT

__all__ = ["MAX_STOPS", "MAX_SYSTEM_PROMPT", "OUTPUT_ONLY", "config", "config_pb", "unchecked"]

# Fields of a configuration that only the server sets.
OUTPUT_ONLY = frozenset({"api_key_set"})
_STAGES = ("director", "narrator", "verifier", "memory")


def config_pb(config: Config) -> config_pb2.Config:
    shown = config_pb2.Config()
    _show(config, shown)
    return shown


def _show(layer: Any, shown: Any) -> None:
    """A submessage of which nothing is said is not set."""
    for field in fields(layer):
        name, value = field.name, getattr(layer, field.name)
        if isinstance(value, tuple):
            getattr(shown, name).extend(_tool_pb(v) if isinstance(v, Tool) else v for v in value)
        elif hasattr(value, "__dataclass_fields__"):
            if value != type(value)():
                getattr(shown, name).SetInParent()
                _show(value, getattr(shown, name))
        elif name == "api_key":
            # Never shown, sealed or not.
            if value:
                shown.api_key_set = True
        elif value is not None:
            setattr(shown, name, value)


def _tool_pb(tool: Tool) -> config_pb2.Tool:
    return config_pb2.Tool(**{field.name: getattr(tool, field.name) for field in fields(tool)})


def config(message: config_pb2.Config, field: str) -> Config:
    """The checked configuration; INVALID with the violations under `field`."""
    found = [Violation(f"{field}.{name}", why) for name, why in _violations(message)]
    if found:
        raise Invalid(*found)
    return unchecked(message)


def _violations(message: config_pb2.Config) -> Iterator[tuple[str, str]]:
    yield from config_checks.violations(message)
    given = unchecked(message)
    for name in message.cleared:
        path = list_path(name)
        if path is None:
            yield "cleared", "holds paths of list fields, as in greetings or model.stop"
        elif value_at(given, path):
            yield path, "is given and cleared at once"


def list_path(name: str) -> str | None:
    """A list field's path in proto names, from either spelling; None when there is no such list."""
    steps = []
    descriptor: Any = config_pb2.Config.DESCRIPTOR
    for step in name.split("."):
        found = (
            next((f for f in descriptor.fields if step in (f.name, f.json_name)), None)
            if descriptor
            else None
        )
        if found is None:
            return None
        steps.append(found.name)
        descriptor = found.message_type
    path = ".".join(steps)
    return path if path in LISTS else None


def unchecked(message: config_pb2.Config) -> Config:
    """As it is: one that layers were laid into may exceed what a single layer may be."""
    cleared = {path for name in message.cleared if (path := list_path(name)) is not None}
    return Config(
        message.system_prompt if message.HasField("system_prompt") else None,
        _model(message.model),
        _budget(message.budget),
        tuple(_tool(tool) for tool in message.tools),
        PipelineConfig(**{name: _stage(getattr(message.pipeline, name)) for name in _STAGES}),
        MemoryPolicy(**_present(message.memory_policy), kinds=tuple(message.memory_policy.kinds)),
        tuple(message.greetings),
        message.variables_json if message.HasField("variables_json") else None,
        message.extensions_json if message.HasField("extensions_json") else None,
        tuple(sorted(cleared)),
    )


def _model(message: config_pb2.ModelConfig) -> ModelConfig:
    return ModelConfig(**_present(message), stop=tuple(message.stop))


def _budget(message: config_pb2.BudgetConfig) -> BudgetConfig:
    return BudgetConfig(**_present(message))


def _stage(message: config_pb2.PipelineStage) -> PipelineStage:
    return PipelineStage(
        **_present(message),
        model=_model(message.model),
        tools=tuple(message.tools),
        budget=_budget(message.budget),
    )


def _tool(message: config_pb2.Tool) -> Tool:
    return Tool(**{field.name: getattr(message, field.name) for field in message.DESCRIPTOR.fields})


def _present(message: Any) -> dict[str, Any]:
    """The scalars that are set, but for what is output only."""
    scalars = (f.name for f in message.DESCRIPTOR.fields if not f.is_repeated and f.message_type is None)
    names = (name for name in scalars if name not in OUTPUT_ONLY and message.HasField(name))
    return {name: getattr(message, name) for name in names}
