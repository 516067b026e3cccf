from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_UNSPECIFIED: _ClassVar[Scope]
    SCOPE_PATH: _ClassVar[Scope]
    SCOPE_SESSION: _ClassVar[Scope]
    SCOPE_PROJECT: _ClassVar[Scope]

class MemoryOp(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_OP_UNSPECIFIED: _ClassVar[MemoryOp]
    MEMORY_OP_ADD: _ClassVar[MemoryOp]
    MEMORY_OP_UPDATE: _ClassVar[MemoryOp]
    MEMORY_OP_DEPRECATE: _ClassVar[MemoryOp]

class MemoryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_KIND_UNSPECIFIED: _ClassVar[MemoryKind]
    MEMORY_KIND_FACT: _ClassVar[MemoryKind]
    MEMORY_KIND_SUMMARY: _ClassVar[MemoryKind]
    MEMORY_KIND_OPEN_LOOP: _ClassVar[MemoryKind]
SCOPE_UNSPECIFIED: Scope
SCOPE_PATH: Scope
SCOPE_SESSION: Scope
SCOPE_PROJECT: Scope
MEMORY_OP_UNSPECIFIED: MemoryOp
MEMORY_OP_ADD: MemoryOp
MEMORY_OP_UPDATE: MemoryOp
MEMORY_OP_DEPRECATE: MemoryOp
MEMORY_KIND_UNSPECIFIED: MemoryKind
MEMORY_KIND_FACT: MemoryKind
MEMORY_KIND_SUMMARY: MemoryKind
MEMORY_KIND_OPEN_LOOP: MemoryKind

class Effects(_message.Message):
    __slots__ = ("variables", "memory", "slots")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[VariableWrite]
    memory: _containers.RepeatedCompositeFieldContainer[MemoryWrite]
    slots: _containers.RepeatedCompositeFieldContainer[SlotWrite]
    def __init__(self, variables: _Optional[_Iterable[_Union[VariableWrite, _Mapping]]] = ..., memory: _Optional[_Iterable[_Union[MemoryWrite, _Mapping]]] = ..., slots: _Optional[_Iterable[_Union[SlotWrite, _Mapping]]] = ...) -> None: ...

class VariableWrite(_message.Message):
    __slots__ = ("scope", "key", "value_json", "delete")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    scope: Scope
    key: str
    value_json: str
    delete: bool
    def __init__(self, scope: _Optional[_Union[Scope, str]] = ..., key: _Optional[str] = ..., value_json: _Optional[str] = ..., delete: _Optional[bool] = ...) -> None: ...

class MemoryWrite(_message.Message):
    __slots__ = ("op", "memory_id", "kind", "fact_key", "text", "importance", "confidence", "covers_floor_id")
    OP_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FACT_KEY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    COVERS_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    op: MemoryOp
    memory_id: str
    kind: MemoryKind
    fact_key: str
    text: str
    importance: float
    confidence: float
    covers_floor_id: str
    def __init__(self, op: _Optional[_Union[MemoryOp, str]] = ..., memory_id: _Optional[str] = ..., kind: _Optional[_Union[MemoryKind, str]] = ..., fact_key: _Optional[str] = ..., text: _Optional[str] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., covers_floor_id: _Optional[str] = ...) -> None: ...

class SlotWrite(_message.Message):
    __slots__ = ("namespace", "slot", "value_json", "delete")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    slot: str
    value_json: str
    delete: bool
    def __init__(self, namespace: _Optional[str] = ..., slot: _Optional[str] = ..., value_json: _Optional[str] = ..., delete: _Optional[bool] = ...) -> None: ...
