"""Generates docs/api from the contract, and tells whether what is there is fresh.

`python -m tools.api_pages` writes; `--check` compares and writes nothing. Every word of it is a comment in
protos/stemma.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from google.api import annotations_pb2, http_pb2
from google.protobuf import descriptor_pb2

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTORS = ROOT / "protos/gen/stemma/descriptors.binpb"
TARGET = ROOT / "docs/api"
MADE = "Made by `python -m tools.api_pages` from the contract in `protos/stemma`; do not edit.\n"
_PACKAGES = {
    "conversation": "The conversation service",
    "draft": "The draft service",
    "kernel": "Shared messages",
}
_TYPES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
}
_MESSAGE, _ENUM = (
    descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE,
    descriptor_pb2.FieldDescriptorProto.TYPE_ENUM,
)
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED

Comments = Mapping[tuple[int, ...], str]


def pages() -> dict[str, str]:
    """File name -> content, for each file of the contract that declares anything, and an index."""
    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes()).file
    own = [file for file in files if file.package.startswith("stemma.")]
    found = {_page(file): "".join(_file(file)) for file in own}
    return {"README.md": _index(own), **found}


def _page(file: descriptor_pb2.FileDescriptorProto) -> str:
    package, name = file.name.split("/")[1], Path(file.name).stem
    return f"{package}-{name.removesuffix('_service').replace('_', '-')}.md"


def _index(files: list[descriptor_pb2.FileDescriptorProto]) -> str:
    parts = [
        f"# API\n\n{MADE}\nWhat calls have in common (codes, reasons, retries, paging) is in the README.\n"
    ]
    for package, title in _PACKAGES.items():
        parts.append(f"\n## {title}\n\n")
        for file in files:
            if file.name.split("/")[1] == package:
                names = ", ".join(
                    [*(one.name for one in file.service)] or [one.name for one in file.message_type]
                )
                parts.append(f"- [{Path(file.name).stem}]({_page(file)}): {names}\n")
    return "".join(parts)


def _file(file: descriptor_pb2.FileDescriptorProto) -> Iterator[str]:
    comments = _comments(file)
    yield f"# {file.package}: {Path(file.name).stem.replace('_', ' ')}\n\n{MADE}"
    for index, service in enumerate(file.service):
        yield f"\n## {service.name}\n\n{comments.get((6, index), '')}"
        for number, method in enumerate(service.method):
            yield from _method(method, comments.get((6, index, 2, number), ""))
    for index, message in enumerate(file.message_type):
        yield from _message(message, comments, (4, index), message.name)
    for index, enum in enumerate(file.enum_type):
        yield from _values(enum, comments, (5, index), enum.name)


def _comments(file: descriptor_pb2.FileDescriptorProto) -> Comments:
    """By path: the comment before a thing, else the one behind it, as paragraphs."""
    return {
        tuple(location.path): "\n".join(
            line.strip() for line in (location.leading_comments or location.trailing_comments).splitlines()
        ).strip()
        + "\n"
        for location in file.source_code_info.location
    }


def _method(method: descriptor_pb2.MethodDescriptorProto, comment: str) -> Iterator[str]:
    asked = ("stream of " if method.client_streaming else "") + _linked(method.input_type)
    answered = ("stream of " if method.server_streaming else "") + _linked(method.output_type)
    yield f"\n### {method.name}\n\n{asked} → {answered}\n"
    if method.options.HasExtension(annotations_pb2.http):
        rule = method.options.Extensions[annotations_pb2.http]
        yield "\n" + "".join(f"`{_route(one)}`  \n" for one in (rule, *rule.additional_bindings))
    yield f"\n{comment}"


def _route(rule: http_pb2.HttpRule) -> str:
    verb = str(rule.WhichOneof("pattern"))
    return f"{verb.upper()} {getattr(rule, verb)}"


def _linked(name: str) -> str:
    return f"`{name.rpartition('.')[2]}`"


def _message(
    message: descriptor_pb2.DescriptorProto, comments: Comments, path: tuple[int, ...], name: str
) -> Iterator[str]:
    if message.options.map_entry:
        return
    yield f"\n### {name}\n\n{comments.get(path, '')}"
    if message.field:
        yield "\n| field | type | |\n|---|---|---|\n"
    maps = {one.name: one for one in message.nested_type if one.options.map_entry}
    for index, field in enumerate(message.field):
        said = " ".join(comments.get((*path, 2, index), "").split()).replace("|", "\\|")
        group = message.oneof_decl[field.oneof_index].name if _in_oneof(field) else ""
        where = f"oneof `{group}`. " if group else ""
        yield f"| `{field.name}` | {_type(field, maps)} | {where}{said} |\n"
    for index, inner in enumerate(message.nested_type):
        yield from _message(inner, comments, (*path, 3, index), f"{name}.{inner.name}")
    for index, enum in enumerate(message.enum_type):
        yield from _values(enum, comments, (*path, 4, index), f"{name}.{enum.name}")


def _in_oneof(field: descriptor_pb2.FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _type(
    field: descriptor_pb2.FieldDescriptorProto, maps: Mapping[str, descriptor_pb2.DescriptorProto]
) -> str:
    short = field.type_name.rpartition(".")[2]
    if short in maps:
        key, value = maps[short].field
        return f"map of {_TYPES[key.type]} to {_type(value, {})}"
    one = f"`{short}`" if field.type in (_MESSAGE, _ENUM) else _TYPES[field.type]
    if field.label == _REPEATED:
        return f"{one}, repeated"
    return f"{one}, optional" if field.proto3_optional else one


def _values(
    enum: descriptor_pb2.EnumDescriptorProto, comments: Comments, path: tuple[int, ...], name: str
) -> Iterator[str]:
    yield f"\n### {name}\n\n{comments.get(path, '')}\n"
    for index, value in enumerate(enum.value):
        said = " ".join(comments.get((*path, 2, index), "").split())
        yield f"- `{value.name}`{': ' if said else ''}{said}\n"


def outdated() -> list[str]:
    """Which files are not what the contract makes of them."""
    wanted = pages()
    there = {path.name: path.read_text() for path in TARGET.glob("*.md")}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    if parser.parse_args().check:
        if stale := outdated():
            sys.exit(f"docs/api: {', '.join(stale)} not fresh; run python -m tools.api_pages")
        return
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in outdated():
        (TARGET / name).unlink(missing_ok=True)
    for name, content in pages().items():
        (TARGET / name).write_text(content)


if __name__ == "__main__":
    main()
