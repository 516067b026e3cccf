"""Generates deploy/envoy, and tells whether what is there is fresh.

`python -m tools.envoy` writes; `--check` compares and writes nothing. Which service answers which path
comes from the contract alone; Envoy reads its descriptors for the REST forms.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml
from google.api import annotations_pb2
from google.protobuf import any_pb2, descriptor_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from tools.envoy_config import CLUSTERS, config, elsewhere

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "protos/gen/stemma/descriptors.binpb"
TARGET = ROOT / "deploy/envoy/envoy.yaml"
DESCRIPTORS = ROOT / "deploy/envoy/descriptors.binpb"
HEAD = """\
# The front door: gRPC, and REST transcoded from the annotations of the contract. SSE, uploads and the
# console are the gateway's. Made by `python -m tools.envoy`: change that.
"""
_FILE = ".google.api.HttpBody"


def descriptors() -> bytes:
    """The contract as Envoy needs it.

    With the types of error details: it writes them as JSON only when it knows them. Without the REST forms
    of streams of events, which it can not write: their paths pass through to the gateway.
    """
    files = _contract()
    known = {file.name for file in files.file}
    for module in (any_pb2, duration_pb2, status_pb2, error_details_pb2):
        if module.DESCRIPTOR.name not in known:
            module.DESCRIPTOR.CopyToProto(files.file.add())
    for file in files.file:
        file.ClearField("source_code_info")
        for service in file.service:
            for method in service.method:
                rule = method.options.Extensions[annotations_pb2.http]
                if rule.response_body and method.output_type != _FILE and method.server_streaming:
                    method.options.ClearExtension(annotations_pb2.http)
    return files.SerializeToString(deterministic=True)


def services() -> list[str]:
    """Every service of the contract, by full name, in the order of the descriptors."""
    return [f"{file.package}.{service.name}" for file in _contract().file for service in file.service]


def _contract() -> descriptor_pb2.FileDescriptorSet:
    return descriptor_pb2.FileDescriptorSet.FromString(CONTRACT.read_bytes())


def text() -> str:
    """The configuration as it is kept."""
    return HEAD + _text(config(services()))


def _text(values: object) -> str:
    written: str = yaml.safe_dump(values, sort_keys=False, width=110)
    return written


def outdated() -> list[str]:
    """Which of the files are not what the contract makes of them."""
    wanted = {TARGET: text().encode(), DESCRIPTORS: descriptors()}
    return [
        str(path.relative_to(ROOT))
        for path, content in wanted.items()
        if not path.exists() or path.read_bytes() != content
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="print one for programs on this machine instead"
    )
    for name in CLUSTERS:
        parser.add_argument(f"--{name}", metavar="HOST:PORT,…", default="", help=f"where {name} listens")
    given = vars(parser.parse_args())
    if given["listen"]:
        endpoints = {name: given[name].split(",") if given[name] else [] for name in CLUSTERS}
        print(_text(elsewhere(config(services()), given["listen"], endpoints, str(DESCRIPTORS))), end="")
    elif given["check"]:
        if stale := outdated():
            sys.exit(f"{', '.join(stale)}: not fresh; run python -m tools.envoy")
    else:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(text())
        DESCRIPTORS.write_bytes(descriptors())


if __name__ == "__main__":
    main()
