from google.api import annotations_pb2 as _annotations_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from stemma.kernel.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RespondInput(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class RespondEdit(_message.Message):
    __slots__ = ("floor_id", "messages")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, floor_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class RespondRegenerate(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class RespondResume(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("instruction", "temperature", "model")
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    instruction: str
    temperature: float
    model: str
    def __init__(self, instruction: _Optional[str] = ..., temperature: _Optional[float] = ..., model: _Optional[str] = ...) -> None: ...

class RespondRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "input", "edit", "regenerate", "resume", "candidate_count", "candidates", "overrides", "hold", "cancel_on_disconnect")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    EDIT_FIELD_NUMBER: _ClassVar[int]
    REGENERATE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    CANCEL_ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    input: RespondInput
    edit: RespondEdit
    regenerate: RespondRegenerate
    resume: RespondResume
    candidate_count: int
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    overrides: _config_pb2.Config
    hold: bool
    cancel_on_disconnect: bool
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., input: _Optional[_Union[RespondInput, _Mapping]] = ..., edit: _Optional[_Union[RespondEdit, _Mapping]] = ..., regenerate: _Optional[_Union[RespondRegenerate, _Mapping]] = ..., resume: _Optional[_Union[RespondResume, _Mapping]] = ..., candidate_count: _Optional[int] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., overrides: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., hold: _Optional[bool] = ..., cancel_on_disconnect: _Optional[bool] = ...) -> None: ...

class RespondResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _run_pb2.RunEvent
    def __init__(self, event: _Optional[_Union[_run_pb2.RunEvent, _Mapping]] = ...) -> None: ...

class RespondResult(_message.Message):
    __slots__ = ("run", "floor", "branch")
    RUN_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class AttachRunRequest(_message.Message):
    __slots__ = ("run_id", "after")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after: str
    def __init__(self, run_id: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class AttachRunResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _run_pb2.RunEvent
    def __init__(self, event: _Optional[_Union[_run_pb2.RunEvent, _Mapping]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("request_id", "run_id", "keep")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    run_id: str
    keep: _run_pb2.Keep
    def __init__(self, request_id: _Optional[str] = ..., run_id: _Optional[str] = ..., keep: _Optional[_Union[_run_pb2.Keep, str]] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("run", "floor", "branch")
    RUN_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class ToolOutput(_message.Message):
    __slots__ = ("call_id", "content", "is_error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    content: str
    is_error: bool
    def __init__(self, call_id: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ...) -> None: ...

class ToolApprovalDecision(_message.Message):
    __slots__ = ("call_id", "approve", "reason")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    approve: bool
    reason: str
    def __init__(self, call_id: _Optional[str] = ..., approve: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class SubmitToolResultsRequest(_message.Message):
    __slots__ = ("request_id", "run_id", "results", "approvals")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    run_id: str
    results: _containers.RepeatedCompositeFieldContainer[ToolOutput]
    approvals: _containers.RepeatedCompositeFieldContainer[ToolApprovalDecision]
    def __init__(self, request_id: _Optional[str] = ..., run_id: _Optional[str] = ..., results: _Optional[_Iterable[_Union[ToolOutput, _Mapping]]] = ..., approvals: _Optional[_Iterable[_Union[ToolApprovalDecision, _Mapping]]] = ...) -> None: ...

class SubmitToolResultsResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...
