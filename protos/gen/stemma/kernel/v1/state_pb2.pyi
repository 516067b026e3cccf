from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Variable(_message.Message):
    __slots__ = ("scope", "key", "value_json", "floor_id", "version")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    scope: _effects_pb2.Scope
    key: str
    value_json: str
    floor_id: str
    version: int
    def __init__(self, scope: _Optional[_Union[_effects_pb2.Scope, str]] = ..., key: _Optional[str] = ..., value_json: _Optional[str] = ..., floor_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class MemoryItem(_message.Message):
    __slots__ = ("memory_id", "kind", "fact_key", "text", "importance", "confidence", "covers_floor_id", "floor_id", "message_id", "source", "trust", "added_floor_id", "deprecated")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FACT_KEY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    COVERS_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    ADDED_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    kind: _effects_pb2.MemoryKind
    fact_key: str
    text: str
    importance: float
    confidence: float
    covers_floor_id: str
    floor_id: str
    message_id: str
    source: str
    trust: str
    added_floor_id: str
    deprecated: bool
    def __init__(self, memory_id: _Optional[str] = ..., kind: _Optional[_Union[_effects_pb2.MemoryKind, str]] = ..., fact_key: _Optional[str] = ..., text: _Optional[str] = ..., importance: _Optional[float] = ..., confidence: _Optional[float] = ..., covers_floor_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., message_id: _Optional[str] = ..., source: _Optional[str] = ..., trust: _Optional[str] = ..., added_floor_id: _Optional[str] = ..., deprecated: _Optional[bool] = ...) -> None: ...

class SlotValue(_message.Message):
    __slots__ = ("namespace", "slot", "value_json", "floor_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    slot: str
    value_json: str
    floor_id: str
    def __init__(self, namespace: _Optional[str] = ..., slot: _Optional[str] = ..., value_json: _Optional[str] = ..., floor_id: _Optional[str] = ...) -> None: ...
