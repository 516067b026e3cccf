"""How the client of each language is made: what it needs, its stubs, and what is built with them."""

from __future__ import annotations

import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from google.protobuf import descriptor_pb2

from tools.clients.commands import ClientError, run
from tools.clients.descriptors import GO_MODULE
from tools.clients.web_types import declarations

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "clients"
CACHE = ROOT / ".cache" / "clients"
NODE_BIN = CLIENTS / "node" / "node_modules" / ".bin"
# Go's packages as Debian installs them: there need be no way to a module proxy.
DEBIAN_GO = Path("/usr/share/gocode")
OURS = (sys.executable, "-m", "grpc_tools.protoc")
# What Debian's packages for C++ and Go have ready.
LIBRARY_FILES = ("google/protobuf/",)
GO_LIBRARY_FILES = (*LIBRARY_FILES, "google/")


@dataclass(frozen=True)
class Contract:
    """The set of descriptors in a file, and the names in it."""

    path: Path

    @cached_property
    def files(self) -> Sequence[str]:
        whole = descriptor_pb2.FileDescriptorSet.FromString(self.path.read_bytes())
        return [file.name for file in whole.file]

    def without(self, prefixes: tuple[str, ...]) -> list[str]:
        return [name for name in self.files if not name.startswith(prefixes)]


class Language(ABC):
    """One client; `clients/NAME` is its home."""

    name: str
    # Programs, and folders, that must be there.
    needs: Sequence[str | Path]
    # What is there when it is built, below its home.
    makes: Sequence[str]

    @property
    def home(self) -> Path:
        return CLIENTS / self.name

    def missing(self) -> list[str]:
        return [str(one) for one in self.needs if not (shutil.which(one) or Path(one).exists())]

    @abstractmethod
    def stubs(self, contract: Contract, out: Path) -> None:
        """Writes them below `out`, an empty folder. Raises ClientError."""

    @abstractmethod
    def build(self) -> None:
        """Compiles library and examples, with the stubs in `gen`. Raises ClientError."""


class Node(Language):
    name = "node"
    needs = ("node", NODE_BIN / "tsc", NODE_BIN / "protoc-gen-ts_proto")
    makes = ("dist/src/index.js", "dist/examples/story.js", "dist/examples/chat.js")

    # Services as tables, which src/calls.ts makes methods of; 64-bit numbers as bigint; oneofs as unions.
    options = (
        "outputServices=generic-definitions,importSuffix=.js,forceLong=bigint,oneof=unions-value,"
        "useExactTypes=false,esModuleInterop=true,env=node,outputIndex=false"
    )

    def stubs(self, contract: Contract, out: Path) -> None:
        plugin = f"--plugin={NODE_BIN}/protoc-gen-ts_proto"
        target = (f"--ts_proto_out={out}", f"--ts_proto_opt={self.options}")
        files = contract.without(LIBRARY_FILES)
        run([*OURS, f"--descriptor_set_in={contract.path}", plugin, *target, *files], ROOT)

    def build(self) -> None:
        run([NODE_BIN / "tsc", "--project", "."], self.home)


class Web(Language):
    name = "web"
    needs = ("node", NODE_BIN / "tsc")
    makes = ("dist/stemma.js", "dist/stemma.d.ts", "dist/gen/api.d.ts")

    def stubs(self, contract: Contract, out: Path) -> None:
        (out / "api.d.ts").write_text(declarations(contract.path), encoding="utf-8")

    def build(self) -> None:
        """The folder to copy: the module as it is, and its types."""
        run([NODE_BIN / "tsc", "--project", "."], self.home)
        run([NODE_BIN / "tsc", "--project", "examples"], self.home)
        dist = self.home / "dist"
        (dist / "gen").mkdir(exist_ok=True)
        shutil.copyfile(self.home / "stemma.js", dist / "stemma.js")
        shutil.copyfile(self.home / "gen" / "api.d.ts", dist / "gen" / "api.d.ts")


class Go(Language):
    name = "go"
    needs = (
        "go",
        "protoc-gen-go",
        "protoc-gen-go-grpc",
        DEBIAN_GO / "src/google.golang.org/grpc",
        DEBIAN_GO / "src/google.golang.org/protobuf",
        DEBIAN_GO / "src/google.golang.org/genproto",
        # Not the other golang/protobuf that Debian has, 1.3: that one loses oneofs.
        DEBIAN_GO / "src/github.com/golang/protobuf/internal/gengogrpc",
    )
    makes = ("build/story", "build/chat")

    def stubs(self, contract: Contract, out: Path) -> None:
        module = f"module={GO_MODULE}/gen"
        targets = (f"--go_out={out}", f"--go_opt={module}", f"--go-grpc_out={out}", f"--go-grpc_opt={module}")
        files = contract.without(GO_LIBRARY_FILES)
        run([*OURS, f"--descriptor_set_in={contract.path}", *targets, *files], ROOT)

    def build(self) -> None:
        workspace = CACHE / "gopath"
        link = workspace / "src" / GO_MODULE
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() or link.readlink() != self.home:
            link.unlink(missing_ok=True)
            link.symlink_to(self.home)
        environment = {
            "GO111MODULE": "off",
            "GOFLAGS": "",
            "GOPATH": f"{workspace}:{DEBIAN_GO}",
            "GOCACHE": str(CACHE / "go-build"),
        }
        examples = [f"{GO_MODULE}/examples/{name}" for name in ("story", "chat")]
        run(
            [
                "sh",
                "-c",
                'unformatted=$(gofmt -l stemma examples); echo "$unformatted"; test -z "$unformatted"',
            ],
            self.home,
        )
        run(["go", "vet", f"{GO_MODULE}/stemma", *examples], ROOT, **environment)
        run(["go", "build", "-o", f"{self.home}/build/", *examples], ROOT, **environment)


class Cpp(Language):
    name = "cpp"
    needs = ("g++", "cmake", "pkg-config", "protoc", "grpc_cpp_plugin", Path("/usr/include/grpcpp/grpcpp.h"))
    makes = ("build/story", "build/chat")

    def stubs(self, contract: Contract, out: Path) -> None:
        # Debian's own: what it writes fits the library that is installed beside it.
        plugin = f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}"
        targets = (f"--cpp_out={out}", f"--grpc_out={out}")
        files = contract.without(LIBRARY_FILES)
        run(["protoc", f"--descriptor_set_in={contract.path}", plugin, *targets, *files], ROOT)
        for file in [*out.rglob("*.grpc.pb.cc")]:
            if "_method_names[]" not in file.read_text(encoding="utf-8"):
                # A file without a service: nothing to compile in it.
                file.unlink()
                file.with_suffix(".h").unlink()

    def build(self) -> None:
        cache = self.home / "build" / "CMakeCache.txt"
        if cache.exists() and f":INTERNAL={self.home}\n" not in cache.read_text(encoding="utf-8"):
            # Made where this checkout was before.
            shutil.rmtree(cache.parent)
        run(["cmake", "-S", ".", "-B", "build"], self.home)
        run(["cmake", "--build", "build", "--parallel", "2"], self.home)


LANGUAGES: tuple[Language, ...] = (Cpp(), Node(), Web(), Go())

__all__ = ["CACHE", "LANGUAGES", "ClientError", "Contract", "Language"]
