"""A frozen configuration as `get_config` shows it to a model. Pure."""

from functools import cache
from typing import Any

from kernel.prompt.config import Config, sources
from kernel.strict_json import dumps, loads
from kernel.tools.box import MAX_RESULT
from kernel.tools.builtin import ToolFault
from kernel.wire.config_patch import document
from kernel.wire.config_schema import config_schema

_DEFINITIONS = "#/$defs/"


def config_shown(frozen: Config, of_session: bool, arguments: str) -> str:
    """Values, the layer that decides each, and the schema; of one field, with `field`.

    Raises: ToolFault for a field that there is not, and for what is too long to be shown whole.
    """
    given: Any = loads(arguments)
    schema, values, field = _schema(), document(frozen), given.get("field", "")
    if field and field not in schema["properties"]:
        raise ToolFault(f"There is no such field. There are: {', '.join(schema['properties'])}.")
    if field:
        values = {field: values[field]} if field in values else {}
        schema = _part(schema, field)
    text = dumps({"config": values, "sources": _sources(frozen, of_session), "schema": schema})
    if len(text.encode()) > MAX_RESULT:
        raise ToolFault("The configuration is too long to be shown whole: ask for one field.")
    return text


def _sources(frozen: Config, of_session: bool) -> dict[str, str]:
    # What a session has of its own, and what of its project, is one when it is frozen.
    return sources([("project or session" if of_session else "project", frozen)])


@cache
def _schema() -> dict[str, Any]:
    return config_schema()


def _part(schema: dict[str, Any], field: str) -> dict[str, Any]:
    """The schema of one field, with the definitions that it needs."""
    found: dict[str, Any] = {field: schema["properties"][field]}
    needed: dict[str, Any] = {}
    waiting = [found]
    while waiting:
        for name in _named(waiting.pop()) - needed.keys():
            needed[name] = schema["$defs"][name]
            waiting.append(needed[name])
    return {"type": "object", "properties": found, "$defs": dict(sorted(needed.items()))}


def _named(value: Any) -> set[str]:
    if isinstance(value, list):
        return set[str]().union(*map(_named, value))
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"].removeprefix(_DEFINITIONS)} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(_named, value.values()))
