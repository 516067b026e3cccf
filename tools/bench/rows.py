"""The rows of the table, and the targets. Names are those under which the sections record."""

from collections.abc import Iterator

from tools.bench.bench import ENGINES, Size
from tools.bench.drafts import LOOPING, MEASURED, SERVED, STALLED, STOPPED
from tools.bench.runs import BOUND, COUNTS
from tools.bench.sse import SHAPES
from tools.bench.table import Row, Target, Unit, Values

_NAMES = {"postgres": "Postgres", "sqlite": "SQLite"}


def sections(size: Size) -> dict[str, list[Row]]:
    """By their headings."""
    return {
        "Limits": list(_limits()),
        "Turns a second": list(_throughput()),
        "Paths and contexts": list(_reads(size)),
        "Growth and size": list(_growth(size)),
        "Runs, a token every 50 ms": list(_runs()),
        "Beside drafts": list(_drafts()),
        "gRPC to Server-Sent Events": list(_sse()),
        "Peers at 1,000 messages, PostgreSQL": list(_peers()),
    }


def measured(found: dict[str, list[Row]], values: Values) -> dict[str, list[Row]]:
    """Only the rows that have a value, for a run of some sections."""
    kept = {heading: [row for row in rows if row.name in values] for heading, rows in found.items()}
    return {heading: rows for heading, rows in kept.items() if rows}


def _limits() -> Iterator[Row]:
    yield Row("echo: bare grpc.aio on uvloop, 64 callers", "echo", Unit.PER_SECOND)
    yield Row("— server CPU a call", "echo.cpu", Unit.MS)
    yield Row("— 95 % of the calls within", "echo.p95", Unit.MS)
    yield Row("echo that parses a turn and builds its answer", "echo.turn", Unit.PER_SECOND)
    yield Row("— server CPU a call", "echo.turn.cpu", Unit.MS)
    for connections in (1, 8, 32):
        text = f"raw statement, Postgres, one turn each, {connections} connection{'s' * (connections > 1)}"
        yield Row(text, f"raw.{connections}", Unit.PER_SECOND)
    yield Row("raw statement, Postgres, 32 turns each, 1 connection", "raw.32x1", Unit.PER_SECOND)
    yield Row("raw statement, Postgres, 128 turns each, 2 connections", "raw.128x2", Unit.PER_SECOND)
    yield Row("SQLite direct, synchronous=FULL, a commit for each turn", "direct", Unit.PER_SECOND)


def _throughput() -> Iterator[Row]:
    best = Target(("raw.best",), at_least=1.5)
    direct = Target(("direct",), at_least=2.5)
    yield Row("store layer alone, Postgres", "store.postgres", Unit.PER_SECOND, "raw statement, best", best)
    yield Row("store layer alone, SQLite", "store.sqlite", Unit.PER_SECOND, "SQLite direct", direct)
    for engine in ENGINES:
        text = f"`AppendFloor`, 64 callers, {_NAMES[engine]}"
        # The target is for Postgres; SQLite's ratio is shown with it.
        target = Target(("echo",), at_least=0.6 if engine == "postgres" else None)
        yield Row(text, f"append.{engine}", Unit.PER_SECOND, "echo", target)
        yield Row(
            "— server CPU a call",
            f"append.{engine}.cpu",
            Unit.MS,
            "echo that parses a turn",
            Target(("echo.turn.cpu",)),
        )
        yield Row("— 95 % of the calls within", f"append.{engine}.p95", Unit.MS)
    yield Row(
        "`AppendFloor`, 64 callers, Postgres",
        "append.postgres",
        Unit.PER_SECOND,
        "raw statement, best",
        Target(("raw.best",), at_least=0.4),
    )
    for engine in ENGINES:
        text = f"`AppendFloors`, one stream, 128 sessions, {_NAMES[engine]}"
        yield Row(text, f"floors.{engine}", Unit.PER_SECOND, "echo", Target(("echo",), at_least=2))
        yield Row("— server CPU a turn", f"floors.{engine}.cpu", Unit.MS)


def _reads(size: Size) -> Iterator[Row]:
    for engine in ENGINES:
        for length in size.lengths:
            end = f"{engine}.{length}"
            where = f"{length:,} turns, {_NAMES[engine]}"
            yield Row(f"echo, unloaded ({where})", f"echo.warm.{end}", Unit.MS)
            yield Row(f"echo that answers as many bytes as the path, {where}", f"echo.sized.{end}", Unit.MS)
            yield Row(f"raw path statement, {where}", f"raw.path.{end}", Unit.MS)
            for what, name in (("path", "`ListPath`"), ("context", "`AssembleContext`")):
                for by, text, most in (
                    ("id", "by floor id", 1.3 if length <= 200 else 2),
                    ("branch", "by branch", 2 if length <= 200 else 2.5),
                ):
                    kind = f"{what}.{by}"
                    warm = Target((f"echo.warm.{end}",), at_most=most)
                    beside = f"raw.path.{end}", f"echo.cold.{kind}.{end}"
                    cold = Target(beside, at_most=1.8)
                    yield Row(f"{name} {text}, warm, {where}", f"warm.{kind}.{end}", Unit.MS, "echo", warm)
                    yield Row(
                        f"{name} {text}, cold, {where}",
                        f"cold.{kind}.{end}",
                        Unit.MS,
                        "raw statement + echo",
                        cold,
                    )


def _growth(size: Size) -> Iterator[Row]:
    short, long = size.growth
    for engine in ENGINES:
        name = _NAMES[engine]
        first = f"growth.short.{engine}"
        yield Row(f"append at {short:,} turns, {name}", first, Unit.MS)
        for key, text, most in (
            ("long", f"append at {long:,} turns, {name}", 1.2),
            ("branches", f"append at {short:,} turns with {size.branches:,} abandoned, {name}", 1.05),
        ):
            target = Target((first,), at_most=most)
            yield Row(text, f"growth.{key}.{engine}", Unit.MS, f"append at {short:,} turns", target)
    for engine in ENGINES:
        few, many = size.forks
        name = _NAMES[engine]
        first = f"fork.bytes.{engine}.{few}"
        text = "bytes of a turn and its fork, every turn forked"
        yield Row(f"{text}, {few:,} turns, {name}", first, Unit.BYTES)
        yield Row(
            f"{text}, {many:,} turns, {name}",
            f"fork.bytes.{engine}.{many}",
            Unit.BYTES,
            f"{few:,} turns",
            # "Constant", within what pages half full make of it.
            Target((first,), at_most=1.1),
        )
        yield Row(f"milliseconds of a fork, {many:,} turns, {name}", f"fork.ms.{engine}.{many}", Unit.MS)
    for engine in ENGINES:
        name = _NAMES[engine]
        target = Target(("peer.agents.bytes",), at_most=1.5)
        text = f"bytes a turn, {name}: tree"
        yield Row(text, f"bytes.{engine}", Unit.BYTES, "OpenAI Agents", target)
        yield Row(f"bytes a turn, {name}: request and event", f"bytes.{engine}.apart", Unit.BYTES)


def _runs() -> Iterator[Row]:
    for engine in ENGINES:
        for count in COUNTS:
            own, where = f"runs.{engine}.{count}", f"{count:,} runs, {_NAMES[engine]}"
            bound = Target(("runs.bound",), at_most=1)
            text = f"95 % of frames after the one before, {where}"
            yield Row(text, f"{own}.gap", Unit.MS, f"{BOUND:g} ms", bound)
            yield Row("— frames", f"{own}.frames", Unit.PER_SECOND)
            yield Row("— server CPU a frame", f"{own}.cpu", Unit.MS)
            yield Row("— memory, when all have begun", f"{own}.memory.early", Unit.BYTES)
            flat = Target((f"{own}.memory.early",), at_most=1.1)
            yield Row("— memory, near their end", f"{own}.memory.late", Unit.BYTES, "when begun", flat)


def _drafts() -> Iterator[Row]:
    texts = {STOPPED: "stopped", STALLED: "stalled (SIGSTOP)", LOOPING: "in an endless loop"}
    for engine in ENGINES:
        for name, call in MEASURED.items():
            first = f"drafts.{name}.{engine}.{SERVED}"
            yield Row(f"{call}, draft service idle, {_NAMES[engine]}", first, Unit.MS)
            for state, text in texts.items():
                target = Target((first,), at_most=1.5)
                own = f"drafts.{name}.{engine}.{state}"
                yield Row(f"{call}, draft service {text}, {_NAMES[engine]}", own, Unit.MS, "idle", target)


def _sse() -> Iterator[Row]:
    for streams in SHAPES:
        bare = f"sse.bare.{streams}"
        yield Row(f"bare forwarder, {streams:,} streams, events", bare, Unit.PER_SECOND)
        target = Target((bare,), at_least=0.6)
        own = f"sse.gateway.{streams}"
        yield Row(f"gateway, {streams:,} streams, events", own, Unit.PER_SECOND, "bare forwarder", target)
        cpu = Target((f"{bare}.cpu",))
        yield Row("— its CPU an event", f"{own}.cpu", Unit.MS, "bare forwarder", cpu)


_PEERS = {"langgraph": "LangGraph", "adk": "Google ADK", "agents": "OpenAI Agents"}
_MEASURES = {
    "append": ("append a turn", Unit.MS),
    "load": ("load all", Unit.MS),
    "again": ("load all again, after an append", Unit.MS),
    "bytes": ("bytes a turn", Unit.BYTES),
    "branch": ("an abandoned branch at 400 messages", Unit.MS),
    "branch_bytes": ("bytes of an abandoned branch", Unit.BYTES),
}
_AGAINST = {
    ("langgraph", "append"): 15,
    ("langgraph", "load"): 3,
    ("langgraph", "bytes"): 15,
    ("langgraph", "branch"): 10,
    ("langgraph", "branch_bytes"): 10,
    ("adk", "append"): 4,
    ("adk", "load"): 5,
}


def _peers() -> Iterator[Row]:
    for measure, (text, unit) in _MEASURES.items():
        own = f"peer.stemma.{measure}"
        yield Row(f"Stemma, over gRPC: {text}", own, unit)
        for peer, name in _PEERS.items() if measure != "again" else ():
            factor = _AGAINST.get((peer, measure))
            theirs = f"peer.{peer}.{measure}"
            target = Target((own,), at_least=factor) if factor else None
            yield Row(f"{name}: {text}", theirs, unit, "Stemma" if target else "", target)
