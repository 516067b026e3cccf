"""A configuration as the JSON document that patches are written for, and back.

The document has the names of docs/config.schema.json. What the layer says nothing of is there as an empty
object or list, so that a patch can add to it; scalars are there when they are set. Keys are not in it, and no
patch may bring one: a patch is kept and shown.
"""

from collections.abc import Callable
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from stemma.kernel.v1 import config_pb2

from kernel.errors import Invalid, Violation, invalid
from kernel.prompt import json_patch
from kernel.prompt.config import Config
from kernel.prompt.config import patched as over
from kernel.prompt.json_patch import Operation, Pointer
from kernel.wire.config import OUTPUT_ONLY, config, config_pb

_CONFIG: Any = config_pb2.Config.DESCRIPTOR
_SECRET = "apiKey"
_WHOLE = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64)


def patch_of(text: str, field: str) -> list[Operation]:
    """The operations of a patch of a configuration, in the names of the schema. INVALID names the one at
    fault."""
    try:
        patch = [_named(one) for one in json_patch.operations(text)]
    except json_patch.BadPatch as fault:
        raise invalid(field if fault.index < 0 else f"{field}[{fault.index}]", fault.why) from None
    for index, one in enumerate(patch):
        if _SECRET in (*one.path, *one.source) or _holds_secret(one.value):
            raise invalid(f"{field}[{index}]", "sets no key: that is for an update by its owner")
    return patch


def patched(
    layer: Config, patch: list[Operation], field: str, admitted: Callable[[Config], Config]
) -> Config:
    """The layer with the patch applied, checked as a client's configuration is, and admitted as one. Its keys
    stay with their addresses.

    Raises json_patch.DoesNotApply; Invalid, with the path in the configuration, for what would be none.
    """
    given = config_from(json_patch.applied(document(layer), patch), field)
    return over(layer, admitted(given), [""])


def document(layer: Config) -> dict[str, Any]:
    return _document(config_pb(layer))


def config_from(found: Any, field: str) -> Config:
    """The checked configuration of a document; INVALID names what is wrong by its path."""
    faults: list[Violation] = []
    message = config_pb2.Config()
    _fill(message, found, field, faults)
    if faults:
        raise Invalid(*faults)
    return config(message, field)


def _document(message: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.name in OUTPUT_ONLY:
            continue
        value = getattr(message, field.name)
        if field.is_repeated:
            found[field.json_name] = [_value(field, item) for item in value]
        elif field.message_type is not None:
            found[field.json_name] = _document(value)
        elif message.HasField(field.name) if field.has_presence else value:
            found[field.json_name] = _value(field, value)
    return found


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return _document(value)
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named else value
    return value


def _fill(message: Any, found: Any, at: str, faults: list[Violation]) -> None:
    """Each field by itself, so that a fault has its path."""
    if not isinstance(found, dict):
        faults.append(Violation(at, "is an object"))
        return
    for name, value in found.items():
        field = _field(message.DESCRIPTOR, name)
        here = f"{at}.{field.name}" if field else at
        if field is None or field.name in OUTPUT_ONLY:
            faults.append(Violation(at, "has a field that there is not, or that only the server sets"))
        elif field.message_type is not None and not field.is_repeated:
            inner = getattr(message, field.name)
            if value != {}:
                inner.SetInParent()
            _fill(inner, value, here, faults)
        elif not _fits(field, value) or not _parsed(message, field, value):
            faults.append(Violation(here, "is not a value that it can have"))


def _fits(field: FieldDescriptor, value: Any) -> bool:
    """What the library lets pass, or takes for something else: null, a truth for a number."""
    values = value if field.is_repeated and isinstance(value, list) else [value]
    if any(item is None for item in values):
        return False
    if any(isinstance(item, bool) for item in values):
        return bool(field.type == FieldDescriptor.TYPE_BOOL)
    return field.type not in _WHOLE or all(isinstance(item, int) for item in values)


def _parsed(message: Any, field: FieldDescriptor, value: Any) -> bool:
    try:
        json_format.ParseDict({field.name: value}, message)
    except (json_format.ParseError, TypeError, ValueError):
        return False
    return True


def _field(descriptor: Descriptor | None, name: str) -> FieldDescriptor | None:
    fields = descriptor.fields if descriptor else ()
    return next((field for field in fields if name in (field.name, field.json_name)), None)


def _named(one: Operation) -> Operation:
    path, kind = _steps(one.path)
    source, _ = _steps(one.source)
    return Operation(one.op, path, _renamed(one.value, kind), source)


def _steps(pointer: Pointer) -> tuple[Pointer, Descriptor | None]:
    """In the schema's names, and what kind of object stands there; None for none that we know."""
    steps: list[str] = []
    kind: Descriptor | None = _CONFIG
    is_list = False
    for step in pointer:
        field = None if is_list else _field(kind, step)
        steps.append(field.json_name if field else step)
        if is_list:
            is_list = False
        else:
            kind = field.message_type if field else None
            is_list = bool(field and field.is_repeated)
    return tuple(steps), kind


def _holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return _SECRET in value or any(map(_holds_secret, value.values()))
    return isinstance(value, list) and any(map(_holds_secret, value))


def _renamed(value: Any, kind: Descriptor | None) -> Any:
    if isinstance(value, list):
        return [_renamed(item, kind) for item in value]
    if not isinstance(value, dict) or kind is None:
        return value
    found = {}
    for name, inner in value.items():
        field = _field(kind, name)
        found[field.json_name if field else name] = _renamed(inner, field.message_type if field else None)
    return found


def does_not_apply(fault: json_patch.DoesNotApply) -> str:
    """A sentence for whoever wrote the patch."""
    return f"Operation {fault.index} does not apply: {fault.why}."
