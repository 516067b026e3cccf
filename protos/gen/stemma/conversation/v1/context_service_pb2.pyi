from google.api import annotations_pb2 as _annotations_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import context_pb2 as _context_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AssembleContextRequest(_message.Message):
    __slots__ = ("session_id", "branch", "floor_id", "input", "options")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    branch: str
    floor_id: str
    input: AssembleInput
    options: AssembleOptions
    def __init__(self, session_id: _Optional[str] = ..., branch: _Optional[str] = ..., floor_id: _Optional[str] = ..., input: _Optional[_Union[AssembleInput, _Mapping]] = ..., options: _Optional[_Union[AssembleOptions, _Mapping]] = ...) -> None: ...

class AssembleInput(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class AssembleOptions(_message.Message):
    __slots__ = ("overrides",)
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    overrides: _config_pb2.Config
    def __init__(self, overrides: _Optional[_Union[_config_pb2.Config, _Mapping]] = ...) -> None: ...

class AssembleContextResponse(_message.Message):
    __slots__ = ("messages", "explanation")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    explanation: _context_pb2.Explanation
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., explanation: _Optional[_Union[_context_pb2.Explanation, _Mapping]] = ...) -> None: ...

class ExplainFloorRequest(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class ExplainFloorResponse(_message.Message):
    __slots__ = ("messages", "explanation", "recorded", "model", "budget")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    explanation: _context_pb2.Explanation
    recorded: bool
    model: _config_pb2.ModelConfig
    budget: _config_pb2.BudgetConfig
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., explanation: _Optional[_Union[_context_pb2.Explanation, _Mapping]] = ..., recorded: _Optional[bool] = ..., model: _Optional[_Union[_config_pb2.ModelConfig, _Mapping]] = ..., budget: _Optional[_Union[_config_pb2.BudgetConfig, _Mapping]] = ...) -> None: ...

class DiffContextsRequest(_message.Message):
    __slots__ = ("left_floor_id", "right_floor_id")
    LEFT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    left_floor_id: str
    right_floor_id: str
    def __init__(self, left_floor_id: _Optional[str] = ..., right_floor_id: _Optional[str] = ...) -> None: ...

class DiffContextsResponse(_message.Message):
    __slots__ = ("left", "right", "removed", "added", "kept")
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    left: ComparedContext
    right: ComparedContext
    removed: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextEntry]
    added: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextEntry]
    kept: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextEntry]
    def __init__(self, left: _Optional[_Union[ComparedContext, _Mapping]] = ..., right: _Optional[_Union[ComparedContext, _Mapping]] = ..., removed: _Optional[_Iterable[_Union[_context_pb2.ContextEntry, _Mapping]]] = ..., added: _Optional[_Iterable[_Union[_context_pb2.ContextEntry, _Mapping]]] = ..., kept: _Optional[_Iterable[_Union[_context_pb2.ContextEntry, _Mapping]]] = ...) -> None: ...

class ComparedContext(_message.Message):
    __slots__ = ("floor_id", "recorded", "tokens_in", "config_version", "live_version", "context_digest", "model", "budget")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_IN_FIELD_NUMBER: _ClassVar[int]
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIVE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    recorded: bool
    tokens_in: int
    config_version: str
    live_version: str
    context_digest: str
    model: _config_pb2.ModelConfig
    budget: _config_pb2.BudgetConfig
    def __init__(self, floor_id: _Optional[str] = ..., recorded: _Optional[bool] = ..., tokens_in: _Optional[int] = ..., config_version: _Optional[str] = ..., live_version: _Optional[str] = ..., context_digest: _Optional[str] = ..., model: _Optional[_Union[_config_pb2.ModelConfig, _Mapping]] = ..., budget: _Optional[_Union[_config_pb2.BudgetConfig, _Mapping]] = ...) -> None: ...
