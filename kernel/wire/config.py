"""Configuration, to and from the contract."""

from typing import Any

from stemma.kernel.v1 import config_pb2

from kernel.errors import Invalid, Violation
from kernel.prompt.config import BudgetConfig, Config, ModelConfig

MAX_SYSTEM_PROMPT = 256 * 1024
MAX_STOPS = 16


def config_pb(config: Config) -> config_pb2.Config:
    shown = config_pb2.Config()
    if config.system_prompt is not None:
        shown.system_prompt = config.system_prompt
    for source, target in ((config.model, shown.model), (config.budget, shown.budget)):
        for name in type(source).__dataclass_fields__:
            value = getattr(source, name)
            if name == "stop":
                shown.model.stop.extend(value)
            elif value is not None:
                setattr(target, name, value)
    return shown


def config(message: config_pb2.Config, field: str) -> Config:
    """The checked configuration; INVALID with the violations under `field`."""
    found = [Violation(f"{field}.{name}", why) for name, why in _violations(message)]
    if found:
        raise Invalid(*found)
    return Config(
        message.system_prompt if message.HasField("system_prompt") else None,
        ModelConfig(**_present(message.model, "stop"), stop=tuple(message.model.stop)),
        BudgetConfig(**_present(message.budget)),
    )


def _present(message: Any, *lists: str) -> dict[str, Any]:
    names = (field.name for field in message.DESCRIPTOR.fields if field.name not in lists)
    return {name: getattr(message, name) for name in names if message.HasField(name)}


def _violations(message: config_pb2.Config) -> list[tuple[str, str]]:
    model, budget = message.model, message.budget
    checks = [
        ("system_prompt", len(message.system_prompt.encode()) <= MAX_SYSTEM_PROMPT, "is at most 256 KiB"),
        ("system_prompt", "\0" not in message.system_prompt, "must not contain NUL"),
        ("model.name", len(model.name) <= 200 and "\0" not in model.name, "is at most 200 characters"),
        ("model.temperature", 0 <= model.temperature <= 2, "is between 0 and 2"),
        ("model.top_p", not model.HasField("top_p") or 0 < model.top_p <= 1, "is above 0, to 1"),
        ("model.max_output_tokens", _at_least(model, "max_output_tokens", 1), "is at least 1"),
        ("model.stop", len(model.stop) <= MAX_STOPS, "has at most 16 texts"),
        (
            "model.stop",
            all(0 < len(text) <= 200 and "\0" not in text for text in model.stop),
            "holds texts of 1-200 characters",
        ),
        ("budget.max_input_tokens", _at_least(budget, "max_input_tokens", 1), "is at least 1"),
        ("budget.reserved_output_tokens", _at_least(budget, "reserved_output_tokens", 0), "is at least 0"),
    ]
    return [(name, why) for name, fine, why in checks if not fine]


def _at_least(message: Any, name: str, least: int) -> bool:
    return not message.HasField(name) or getattr(message, name) >= least
