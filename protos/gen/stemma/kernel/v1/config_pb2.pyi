import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolSideEffect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_SIDE_EFFECT_UNSPECIFIED: _ClassVar[ToolSideEffect]
    TOOL_SIDE_EFFECT_NONE: _ClassVar[ToolSideEffect]
    TOOL_SIDE_EFFECT_SANDBOX: _ClassVar[ToolSideEffect]
    TOOL_SIDE_EFFECT_IRREVERSIBLE: _ClassVar[ToolSideEffect]

class ToolApproval(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_APPROVAL_UNSPECIFIED: _ClassVar[ToolApproval]
    TOOL_APPROVAL_NEVER: _ClassVar[ToolApproval]
    TOOL_APPROVAL_ALWAYS: _ClassVar[ToolApproval]

class ToolOwner(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_OWNER_UNSPECIFIED: _ClassVar[ToolOwner]
    TOOL_OWNER_CLIENT: _ClassVar[ToolOwner]
    TOOL_OWNER_BUILT_IN: _ClassVar[ToolOwner]
    TOOL_OWNER_MCP: _ClassVar[ToolOwner]

class MemoryMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_MODE_UNSPECIFIED: _ClassVar[MemoryMode]
    MEMORY_MODE_OFF: _ClassVar[MemoryMode]
    MEMORY_MODE_PROPOSE: _ClassVar[MemoryMode]
    MEMORY_MODE_AUTO: _ClassVar[MemoryMode]
TOOL_SIDE_EFFECT_UNSPECIFIED: ToolSideEffect
TOOL_SIDE_EFFECT_NONE: ToolSideEffect
TOOL_SIDE_EFFECT_SANDBOX: ToolSideEffect
TOOL_SIDE_EFFECT_IRREVERSIBLE: ToolSideEffect
TOOL_APPROVAL_UNSPECIFIED: ToolApproval
TOOL_APPROVAL_NEVER: ToolApproval
TOOL_APPROVAL_ALWAYS: ToolApproval
TOOL_OWNER_UNSPECIFIED: ToolOwner
TOOL_OWNER_CLIENT: ToolOwner
TOOL_OWNER_BUILT_IN: ToolOwner
TOOL_OWNER_MCP: ToolOwner
MEMORY_MODE_UNSPECIFIED: MemoryMode
MEMORY_MODE_OFF: MemoryMode
MEMORY_MODE_PROPOSE: MemoryMode
MEMORY_MODE_AUTO: MemoryMode

class Config(_message.Message):
    __slots__ = ("system_prompt", "model", "budget", "tools", "pipeline", "memory_policy", "greetings", "variables_json", "extensions_json", "cleared")
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_POLICY_FIELD_NUMBER: _ClassVar[int]
    GREETINGS_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_JSON_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    CLEARED_FIELD_NUMBER: _ClassVar[int]
    system_prompt: str
    model: ModelConfig
    budget: BudgetConfig
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    pipeline: PipelineConfig
    memory_policy: MemoryPolicy
    greetings: _containers.RepeatedScalarFieldContainer[str]
    variables_json: str
    extensions_json: str
    cleared: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, system_prompt: _Optional[str] = ..., model: _Optional[_Union[ModelConfig, _Mapping]] = ..., budget: _Optional[_Union[BudgetConfig, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., pipeline: _Optional[_Union[PipelineConfig, _Mapping]] = ..., memory_policy: _Optional[_Union[MemoryPolicy, _Mapping]] = ..., greetings: _Optional[_Iterable[str]] = ..., variables_json: _Optional[str] = ..., extensions_json: _Optional[str] = ..., cleared: _Optional[_Iterable[str]] = ...) -> None: ...

class ModelConfig(_message.Message):
    __slots__ = ("provider", "name", "temperature", "top_p", "max_output_tokens", "stop", "seed", "extra_json", "base_url", "api_key", "api_key_set")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    EXTRA_JSON_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    API_KEY_SET_FIELD_NUMBER: _ClassVar[int]
    provider: str
    name: str
    temperature: float
    top_p: float
    max_output_tokens: int
    stop: _containers.RepeatedScalarFieldContainer[str]
    seed: int
    extra_json: str
    base_url: str
    api_key: str
    api_key_set: bool
    def __init__(self, provider: _Optional[str] = ..., name: _Optional[str] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., max_output_tokens: _Optional[int] = ..., stop: _Optional[_Iterable[str]] = ..., seed: _Optional[int] = ..., extra_json: _Optional[str] = ..., base_url: _Optional[str] = ..., api_key: _Optional[str] = ..., api_key_set: _Optional[bool] = ...) -> None: ...

class BudgetConfig(_message.Message):
    __slots__ = ("max_input_tokens", "reserved_output_tokens", "max_memory_tokens")
    MAX_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_MEMORY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    max_input_tokens: int
    reserved_output_tokens: int
    max_memory_tokens: int
    def __init__(self, max_input_tokens: _Optional[int] = ..., reserved_output_tokens: _Optional[int] = ..., max_memory_tokens: _Optional[int] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ("name", "description", "parameters_json", "side_effect", "approval", "owner", "server")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    SIDE_EFFECT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters_json: str
    side_effect: ToolSideEffect
    approval: ToolApproval
    owner: ToolOwner
    server: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters_json: _Optional[str] = ..., side_effect: _Optional[_Union[ToolSideEffect, str]] = ..., approval: _Optional[_Union[ToolApproval, str]] = ..., owner: _Optional[_Union[ToolOwner, str]] = ..., server: _Optional[str] = ...) -> None: ...

class PipelineConfig(_message.Message):
    __slots__ = ("director", "narrator", "verifier", "memory")
    DIRECTOR_FIELD_NUMBER: _ClassVar[int]
    NARRATOR_FIELD_NUMBER: _ClassVar[int]
    VERIFIER_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    director: PipelineStage
    narrator: PipelineStage
    verifier: PipelineStage
    memory: PipelineStage
    def __init__(self, director: _Optional[_Union[PipelineStage, _Mapping]] = ..., narrator: _Optional[_Union[PipelineStage, _Mapping]] = ..., verifier: _Optional[_Union[PipelineStage, _Mapping]] = ..., memory: _Optional[_Union[PipelineStage, _Mapping]] = ...) -> None: ...

class PipelineStage(_message.Message):
    __slots__ = ("enabled", "prompt", "model", "tools", "budget", "params_json")
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    prompt: str
    model: ModelConfig
    tools: _containers.RepeatedScalarFieldContainer[str]
    budget: BudgetConfig
    params_json: str
    def __init__(self, enabled: _Optional[bool] = ..., prompt: _Optional[str] = ..., model: _Optional[_Union[ModelConfig, _Mapping]] = ..., tools: _Optional[_Iterable[str]] = ..., budget: _Optional[_Union[BudgetConfig, _Mapping]] = ..., params_json: _Optional[str] = ...) -> None: ...

class MemoryPolicy(_message.Message):
    __slots__ = ("mode", "min_importance", "max_items_per_turn", "kinds")
    MODE_FIELD_NUMBER: _ClassVar[int]
    MIN_IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    mode: MemoryMode
    min_importance: float
    max_items_per_turn: int
    kinds: _containers.RepeatedScalarFieldContainer[_effects_pb2.MemoryKind]
    def __init__(self, mode: _Optional[_Union[MemoryMode, str]] = ..., min_importance: _Optional[float] = ..., max_items_per_turn: _Optional[int] = ..., kinds: _Optional[_Iterable[_Union[_effects_pb2.MemoryKind, str]]] = ...) -> None: ...

class ConfigVersion(_message.Message):
    __slots__ = ("version", "config", "title", "principal", "create_time", "restored_from")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FROM_FIELD_NUMBER: _ClassVar[int]
    version: int
    config: Config
    title: str
    principal: str
    create_time: _timestamp_pb2.Timestamp
    restored_from: int
    def __init__(self, version: _Optional[int] = ..., config: _Optional[_Union[Config, _Mapping]] = ..., title: _Optional[str] = ..., principal: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., restored_from: _Optional[int] = ...) -> None: ...
