from stemma.kernel.v1 import snapshot_pb2 as _snapshot_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetSnapshotRequest(_message.Message):
    __slots__ = ("session_id", "floor_id", "project_id", "include_history", "reply_to_floor")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_HISTORY_FIELD_NUMBER: _ClassVar[int]
    REPLY_TO_FLOOR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    floor_id: str
    project_id: str
    include_history: bool
    reply_to_floor: bool
    def __init__(self, session_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., project_id: _Optional[str] = ..., include_history: _Optional[bool] = ..., reply_to_floor: _Optional[bool] = ...) -> None: ...

class GetSnapshotResponse(_message.Message):
    __slots__ = ("header", "path")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    header: _snapshot_pb2.SnapshotHeader
    path: _snapshot_pb2.SnapshotPath
    def __init__(self, header: _Optional[_Union[_snapshot_pb2.SnapshotHeader, _Mapping]] = ..., path: _Optional[_Union[_snapshot_pb2.SnapshotPath, _Mapping]] = ...) -> None: ...
