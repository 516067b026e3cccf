"""How the clients of other languages are made, without their compilers."""

import re
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from tools.clients import __main__ as making
from tools.clients.commands import ClientError
from tools.clients.descriptors import described
from tools.clients.languages import Contract, Language
from tools.clients.web_types import declarations


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Contract:
    path = tmp_path_factory.mktemp("contract") / "contract.binpb"
    path.write_bytes(described(making.SOURCE).SerializeToString())
    return Contract(path)


def test_the_set_stands_by_itself_and_has_no_rest_bindings(contract: Contract) -> None:
    whole = descriptor_pb2.FileDescriptorSet.FromString(contract.path.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in whole.file:
        pool.Add(file)
    assert {"google/rpc/error_details.proto", "stemma/draft/v1/draft_service.proto"} <= {*contract.files}
    assert not {name for name in contract.files if name.startswith("google/api/") and "httpbody" not in name}
    options = [method.options for file in whole.file for one in file.service for method in one.method]
    assert options
    assert not any(option.ByteSize() for option in options)
    packages = {file.package: file.options.go_package for file in whole.file}
    assert packages["stemma.kernel.v1"] == "stemma.example/client/gen/kernel/v1;kernelv1"


def test_types_for_browsers_say_what_may_be_absent(contract: Contract) -> None:
    text = declarations(contract.path)
    part = re.search(r"export interface FilePart \{.*?^\}", text, re.DOTALL | re.MULTILINE)
    assert part is not None
    # Two of a oneof, and two that are always there.
    assert re.findall(r"(uri|data|mediaType|name)(\??): string", part[0]) == [
        ("uri", "?"),
        ("data", "?"),
        ("mediaType", ""),
        ("name", ""),
    ]
    called = re.findall(r'"POST /v1/sessions/\{sessionId\}/floors": (.*);', text)
    request = "Asked<AppendFloorRequest> & { sessionId: string }"
    assert called == [f"{{ request: {request}; answer: AppendFloorResponse }}"]
    assert '"GET /v1/runs/{runId}/events": ' in text.partition("export interface Streams")[2]
    assert "sessions:import" not in text


class _Scarce(Language):
    """A client for a language that nobody has; it counts how often it is made."""

    name = "scarce"
    needs = ("a-compiler-that-is-not-there",)
    makes = ("gen/stub",)

    def __init__(self, home: Path) -> None:
        self._home = home
        self.built = 0

    @property
    def home(self) -> Path:
        return self._home

    def stubs(self, contract: Contract, out: Path) -> None:
        (out / "stub").write_text("stub", encoding="utf-8")

    def build(self) -> None:
        self.built += 1


def test_a_toolchain_that_is_missing_is_named(contract: Contract) -> None:
    with pytest.raises(ClientError, match=r"a-compiler-that-is-not-there is missing\. `tools/need_clients"):
        making.make(_Scarce(making.ROOT / "clients" / "scarce"), contract)


def test_what_has_not_changed_is_not_made_again(
    contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = _Scarce(making.ROOT / "clients" / "scarce")
    monkeypatch.setattr(language, "needs", ())
    monkeypatch.setattr(making, "CACHE", tmp_path)
    monkeypatch.setattr(making, "_renew", lambda fresh, target: None)
    monkeypatch.setattr(language, "makes", ())
    assert making.make(language, contract).startswith("made")
    assert making.make(language, contract) == "as it was"
    assert language.built == 1
    monkeypatch.setattr(language, "makes", ("gen/stub",))
    making.make(language, contract)
    assert language.built == 2


def test_only_stubs_that_differ_are_touched(tmp_path: Path) -> None:
    fresh, target = tmp_path / "fresh", tmp_path / "target"
    for folder in (fresh, target):
        (folder / "a").mkdir(parents=True)
        (folder / "a/same").write_text("one", encoding="utf-8")
    (fresh / "changed").write_text("new", encoding="utf-8")
    (target / "changed").write_text("old", encoding="utf-8")
    (target / "gone").write_text("x", encoding="utf-8")
    before = (target / "a/same").stat().st_mtime_ns
    making._renew(fresh, target)
    assert {path.name for path in target.rglob("*") if path.is_file()} == {"same", "changed"}
    assert (target / "changed").read_text(encoding="utf-8") == "new"
    assert (target / "a/same").stat().st_mtime_ns == before
