"""The built-in tools that read a configuration and propose changes of canon, for a service that keeps
proposals: the draft service. Elsewhere a configuration may name them for the drafts that are made of it, and
runs leave them out. Pure.
"""

from typing import Any

from kernel.strict_json import dumps
from kernel.tools.builtin import BuiltIn

MAX_OPERATIONS = 256


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _text(description: str, most: int = 256) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "description": description}


_POINTER = {"type": "string", "maxLength": 1_024, "description": "A JSON Pointer, as in /memoryPolicy/mode."}
_OPERATION = _object(
    ["op", "path"],
    op={"enum": ["add", "remove", "replace", "move", "copy", "test"]},
    path=_POINTER,
    **{"from": _POINTER},
    value={"description": "Any JSON value that the schema allows there."},
)
_SCOPE = {
    "enum": ["path", "session", "project"],
    "description": "path, when left out: from here on. session, project: a value of its own, which no "
    "rollback takes back.",
}
_VALUE = {"description": "Any JSON value."}
_DELETE = {"type": "boolean", "description": "Removes it; then without a value."}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_VARIABLE = _object(
    ["key"], key=_text("The variable's name.", 128), value=_VALUE, scope=_SCOPE, delete=_DELETE
)
_MEMORY = _object(
    ["op"],
    op={"enum": ["add", "update", "deprecate"]},
    memory_id=_text("Of the item that is updated or deprecated, as get_state shows it."),
    text=_text("What to remember, in a sentence that is understood by itself.", 8_192),
    kind={"enum": ["fact", "open_loop"], "description": "Of an added item: a fact when left out."},
    fact_key=_text("What a fact is about, as in hero.name.", 128),
    importance=_SHARE,
)
_SLOT = _object(
    ["namespace", "slot"],
    namespace=_text("What the slot belongs to.", 128),
    slot=_text("The slot's name.", 128),
    value=_VALUE,
    delete=_DELETE,
)

_ALL = (
    BuiltIn(
        "get_config",
        "Shows the configuration that this draft may propose to change: its values, which layer they are of, "
        "and the JSON Schema that describes every field.",
        dumps(_object([], field=_text("Only this field, as in memoryPolicy.", 64))),
    ),
    BuiltIn(
        "propose_config_patch",
        "Proposes a change of the configuration, as operations of a JSON Patch (RFC 6902). It is checked, "
        "and kept until somebody reviews it; nothing changes by itself.",
        dumps(
            _object(
                ["operations"],
                operations={
                    "type": "array",
                    "items": _OPERATION,
                    "minItems": 1,
                    "maxItems": MAX_OPERATIONS,
                },
            )
        ),
        proposes=True,
    ),
    BuiltIn(
        "propose_state_patch",
        "Proposes a change of what is kept with the conversation: variables, remembered items, slots. It is "
        "checked, and kept until somebody reviews it; nothing changes by itself.",
        dumps(
            _object(
                [],
                variables={"type": "array", "items": _VARIABLE},
                memory={"type": "array", "items": _MEMORY},
                slots={"type": "array", "items": _SLOT},
            )
        ),
        proposes=True,
    ),
)

PROPOSING = {tool.name: tool for tool in _ALL}
