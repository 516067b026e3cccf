"""The contract as the compilers of other languages are given it: one FileDescriptorSet.

They read the set and not the .proto files, because an older protoc (Debian's, which fits Debian's C++
library) does not know every option that the files use; in the set it passes over them. What only the gateway
needs, the REST bindings, is left out, and with it the files that declare them. What only callers need, the
details of errors, is put in.
"""

from __future__ import annotations

from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool
from google.rpc import error_details_pb2, status_pb2

BINDINGS = {"google/api/annotations.proto", "google/api/http.proto"}
# Where Go finds a package of the contract: this, and the folder of its protos.
GO_MODULE = "stemma.example/client"


def described(contract: Path) -> descriptor_pb2.FileDescriptorSet:
    """The set, every file after those that it imports. `contract` is protos/gen/stemma/descriptors.binpb."""
    whole = descriptor_pb2.FileDescriptorSet.FromString(contract.read_bytes())
    files = {file.name: file for file in whole.file if file.name not in BINDINGS}
    for name in (status_pb2.DESCRIPTOR.name, error_details_pb2.DESCRIPTOR.name):
        _add(files, name)
    for file in files.values():
        _without_bindings(file)
        if file.package.startswith("stemma."):
            file.options.go_package = go_package(file.package)
    return descriptor_pb2.FileDescriptorSet(file=files.values())


def go_package(package: str) -> str:
    """`stemma.kernel.v1` -> `stemma.example/client/gen/kernel/v1;kernelv1`."""
    _, *parts = package.split(".")
    return f"{GO_MODULE}/gen/{'/'.join(parts)};{''.join(parts)}"


def _add(files: dict[str, descriptor_pb2.FileDescriptorProto], name: str) -> None:
    """The file `name` of this process, after those it imports."""
    if name in files:
        return
    found = descriptor_pool.Default().FindFileByName(name)
    for imported in found.dependencies:
        _add(files, imported.name)
    files[name] = descriptor_pb2.FileDescriptorProto()
    found.CopyToProto(files[name])


def _without_bindings(file: descriptor_pb2.FileDescriptorProto) -> None:
    kept = [name for name in file.dependency if name not in BINDINGS]
    if len(kept) == len(file.dependency):
        return
    file.ClearField("dependency")
    file.dependency.extend(kept)
    for service in file.service:
        for method in service.method:
            # The binding is the only option of a method, and an extension that nobody need know.
            method.ClearField("options")
