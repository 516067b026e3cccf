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
