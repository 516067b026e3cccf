"""What a configuration may hold: (path, why not) for each field at fault."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from stemma.kernel.v1 import config_pb2, effects_pb2

from kernel.net.addresses import AddressRefused, target
from kernel.prompt.template import BadTemplate, parse
from kernel.strict_json import NotJson, loads
from kernel.tools.model import tool_faults

MAX_SYSTEM_PROMPT = 256 * 1024
MAX_STOPS = 16
MAX_TOOLS = 128
MAX_GREETINGS = 64
_MAX_GREETING = 65_536
_MAX_JSON, _MAX_SMALL_JSON = 256 * 1024, 64 * 1024
_MAX_NAME, _MAX_MODEL, _MAX_DESCRIPTION, _MAX_ITEMS = 128, 200, 8_192, 1_000
_MAX_SERVER_URL = 1_024

# A header's value: no blank, no line break.
_KEY = re.compile(r"[!-~]{0,4096}")

Faults = Iterator[tuple[str, str]]


def violations(message: config_pb2.Config) -> Faults:
    """Every fault of a layer, in the order of its fields."""
    yield from _prompt(message.system_prompt, "system_prompt")
    try:
        parse(message.system_prompt)
    except BadTemplate as error:
        yield "system_prompt", str(error)
    yield from _model(message.model, "model")
    yield from _budget(message.budget, "budget")
    yield from _tools(message)
    for name in ("director", "narrator", "verifier", "memory"):
        yield from _stage(getattr(message.pipeline, name), f"pipeline.{name}")
    yield from _policy(message.memory_policy)
    if len(message.greetings) > MAX_GREETINGS:
        yield "greetings", f"has at most {MAX_GREETINGS} texts"
    for index, text in enumerate(message.greetings[:MAX_GREETINGS]):
        yield from _text(text, f"greetings[{index}]", _MAX_GREETING, least=1)
    yield from _json(message, "variables_json", "", _MAX_JSON)
    yield from _json(message, "extensions_json", "", _MAX_JSON)


def _prompt(text: str, path: str) -> Faults:
    if len(text.encode()) > MAX_SYSTEM_PROMPT:
        yield path, "is at most 256 KiB"
    if "\0" in text:
        yield path, "must not contain NUL"


def _text(text: str, path: str, maximum: int, least: int = 0) -> Faults:
    if not least <= len(text) <= maximum or "\0" in text:
        yield path, f"has {least} to {maximum} characters, and no NUL"


def _model(model: config_pb2.ModelConfig, path: str) -> Faults:
    if len(model.name) > _MAX_MODEL or "\0" in model.name:
        yield f"{path}.name", f"is at most {_MAX_MODEL} characters, without NUL"
    if not 0 <= model.temperature <= 2:
        yield f"{path}.temperature", "is between 0 and 2"
    if model.HasField("top_p") and not 0 < model.top_p <= 1:
        yield f"{path}.top_p", "is above 0, to 1"
    if not _at_least(model, "max_output_tokens", 1):
        yield f"{path}.max_output_tokens", "is at least 1"
    if len(model.stop) > MAX_STOPS:
        yield f"{path}.stop", f"has at most {MAX_STOPS} texts"
    elif not all(0 < len(text) <= 200 and "\0" not in text for text in model.stop):
        yield f"{path}.stop", "holds texts of 1-200 characters, without NUL"
    yield from _json(model, "extra_json", f"{path}.", _MAX_SMALL_JSON)
    yield from _endpoint(model, path)


def _endpoint(model: config_pb2.ModelConfig, path: str) -> Faults:
    """Their form; whether the host may be asked is the server's to say."""
    if model.base_url:
        try:
            if not target(model.base_url).plain:
                yield f"{path}.base_url", "must end with its path"
        except AddressRefused as error:
            yield f"{path}.base_url", error.message
    if not _KEY.fullmatch(model.api_key):
        yield f"{path}.api_key", "has at most 4,096 printable ASCII characters, and no blank"
    if model.api_key and not model.base_url:
        yield f"{path}.api_key", "is only given together with base_url"


def _budget(budget: config_pb2.BudgetConfig, path: str) -> Faults:
    if not _at_least(budget, "max_input_tokens", 1):
        yield f"{path}.max_input_tokens", "is at least 1"
    if not _at_least(budget, "reserved_output_tokens", 0):
        yield f"{path}.reserved_output_tokens", "is at least 0"
    if not _at_least(budget, "max_memory_tokens", 0):
        yield f"{path}.max_memory_tokens", "is at least 0"


def _tools(message: config_pb2.Config) -> Faults:
    if len(message.tools) > MAX_TOOLS:
        yield "tools", f"has at most {MAX_TOOLS} tools"
        return
    names = Counter(tool.name for tool in message.tools)
    if any(count > 1 for count in names.values()):
        yield "tools", "names each tool once"
    for index, tool in enumerate(message.tools):
        path = f"tools[{index}]"
        yield from _text(tool.name, f"{path}.name", _MAX_NAME, least=1)
        yield from _text(tool.description, f"{path}.description", _MAX_DESCRIPTION)
        yield from _server(tool.server, f"{path}.server")
        for name in ("side_effect", "approval", "owner"):
            if not _known(tool, name):
                yield f"{path}.{name}", "is not a known value"
    for n, name, why in tool_faults([(t.name, t.owner, t.parameters_json) for t in message.tools]):
        yield f"tools[{n}].{name}", why


def _server(server: str, path: str) -> Faults:
    """Whether it may be asked is decided when it is: what is allowed is a setting, and names change hosts."""
    if not server.lower().startswith(("http://", "https://")):
        yield from _text(server, path, _MAX_NAME)
        return
    if len(server) > _MAX_SERVER_URL:
        yield path, f"is a URL of at most {_MAX_SERVER_URL:,} characters"
        return
    try:
        target(server)
    except AddressRefused as error:
        yield path, error.message


def _stage(stage: config_pb2.PipelineStage, path: str) -> Faults:
    yield from _prompt(stage.prompt, f"{path}.prompt")
    yield from _model(stage.model, f"{path}.model")
    if len(stage.tools) > MAX_TOOLS:
        yield f"{path}.tools", f"has at most {MAX_TOOLS} names"
    for index, name in enumerate(stage.tools[:MAX_TOOLS]):
        yield from _text(name, f"{path}.tools[{index}]", _MAX_NAME, least=1)
    yield from _budget(stage.budget, f"{path}.budget")
    yield from _json(stage, "params_json", f"{path}.", _MAX_SMALL_JSON)


def _policy(policy: config_pb2.MemoryPolicy) -> Faults:
    if policy.HasField("mode") and (not policy.mode or not _known(policy, "mode")):
        yield "memory_policy.mode", "is not a known MemoryMode"
    if not 0 <= policy.min_importance <= 1:
        yield "memory_policy.min_importance", "is between 0 and 1"
    if not 0 <= policy.max_items_per_turn <= _MAX_ITEMS:
        yield "memory_policy.max_items_per_turn", f"is between 0 and {_MAX_ITEMS}"
    known = set(effects_pb2.MemoryKind.DESCRIPTOR.values_by_number) - {0}
    if not known.issuperset(policy.kinds) or len(set(policy.kinds)) != len(policy.kinds):
        yield "memory_policy.kinds", "holds known kinds, each once"


def _json(message: Any, name: str, prefix: str, maximum: int) -> Faults:
    if message.HasField(name):
        yield from _json_text(getattr(message, name), prefix + name, maximum)


def _json_text(text: str, path: str, maximum: int) -> Faults:
    if len(text.encode()) > maximum:
        yield path, f"is at most {maximum // 1024} KiB"
        return
    try:
        loads(text)
    except NotJson as error:
        yield path, str(error)
        return
    if text.lstrip(" \t\r\n")[:1] != "{":
        yield path, "must be a JSON object"


def _at_least(message: Any, name: str, least: int) -> bool:
    return not message.HasField(name) or getattr(message, name) >= least


def _known(message: Any, name: str) -> bool:
    enum = message.DESCRIPTOR.fields_by_name[name].enum_type
    return getattr(message, name) in enum.values_by_number
