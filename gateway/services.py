"""The RPCs that the gateway serves, from their descriptors.

A new service joins by its module in `MODULES`. An RPC whose client streams has no google.api.http
form: the one that REST has all the same is served by hand, and its route stands in `BY_HAND`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from google.api import annotations_pb2, http_pb2
from google.protobuf.descriptor import Descriptor, FileDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from stemma.conversation.v1 import (
    access_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    staged_write_service_pb2,
    state_service_pb2,
)
from stemma.draft.v1 import draft_service_pb2

MODULES = (
    project_service_pb2,
    session_service_pb2,
    floor_service_pb2,
    run_service_pb2,
    context_service_pb2,
    event_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    access_service_pb2,
    state_service_pb2,
    staged_write_service_pb2,
    draft_service_pb2,
)

_FILE = "google.api.HttpBody"


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC, with everything that calling it takes."""

    package: str
    service: str  # without the package
    name: str
    request: type[Message]
    response: type[Message]
    input: Descriptor
    output: Descriptor
    # The answers are a stream; the requests are one too.
    streaming: bool
    client_streaming: bool

    @property
    def path(self) -> str:
        return f"/{self.package}.{self.service}/{self.name}"


@dataclass(frozen=True, slots=True)
class Binding:
    """One REST form of a method. `body`: the request's fields come from the body, else from the query."""

    http_method: str
    template: str
    method: Method
    body: bool
    # The field of the response that is the answer; None: the whole response.
    response_field: str | None

    @property
    def is_file(self) -> bool:
        """Whether the stream's answer is a file in pieces."""
        if self.response_field is None:
            return False
        kind: Descriptor | None = self.method.output.fields_by_name[self.response_field].message_type
        return kind is not None and kind.full_name == _FILE


def files() -> Iterator[FileDescriptor]:
    for module in MODULES:
        yield module.DESCRIPTOR


def bindings() -> Iterator[Binding]:
    """Every binding of every service in `MODULES`, in the order of the files, then those by hand.
    ValueError for a rule that the gateway could not serve as written."""
    for file in files():
        for service in file.services_by_name.values():
            for descriptor in service.methods_by_name.values():
                yield from _bindings_of(method_of(descriptor), descriptor)
    yield from BY_HAND


def method_of(descriptor: MethodDescriptor) -> Method:
    service = descriptor.containing_service
    return Method(
        package=service.file.package,
        service=service.name,
        name=descriptor.name,
        request=GetMessageClass(descriptor.input_type),
        response=GetMessageClass(descriptor.output_type),
        input=descriptor.input_type,
        output=descriptor.output_type,
        streaming=descriptor.server_streaming,
        client_streaming=descriptor.client_streaming,
    )


def _bindings_of(method: Method, descriptor: MethodDescriptor) -> Iterator[Binding]:
    options = descriptor.GetOptions()
    if not options.HasExtension(annotations_pb2.http):
        return  # gRPC only, or by hand
    if method.client_streaming:
        raise ValueError(f"{method.path}: a stream of requests has no such form")
    rule = options.Extensions[annotations_pb2.http]
    for one in (rule, *rule.additional_bindings):
        yield _binding(method, one)


def _binding(method: Method, rule: http_pb2.HttpRule) -> Binding:
    verb = rule.WhichOneof("pattern")
    if verb is None or verb == "custom" or rule.body not in {"", "*"}:
        raise ValueError(f"{method.path}: a rule with a pattern and the body `*` or none is needed")
    if rule.response_body and rule.response_body not in method.output.fields_by_name:
        raise ValueError(f"{method.path}: response_body names no field")
    return Binding(
        http_method=verb.upper(),
        template=getattr(rule, verb),
        method=method,
        body=rule.body == "*",
        response_field=rule.response_body or None,
    )


_SESSIONS = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
IMPORT = Binding(
    http_method="POST",
    template="/v1/sessions:import",
    method=method_of(_SESSIONS.methods_by_name["ImportSessions"]),
    body=False,
    response_field=None,
)
BY_HAND = (IMPORT,)
