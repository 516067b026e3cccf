"""What the write path is, and which of its awaits the cancelled calls do not come to, with the reason."""

from tests.cancellation.awaits import awaits_of

WRITE_PATH = (
    "conversation_service/rpc/floor_writes.py",
    "conversation_service/rpc/sessions.py",
    "conversation_service/app/sessions.py",
    "conversation_service/app/session_changes.py",
    "kernel/verbs/append.py",
    "kernel/verbs/answers.py",
    "kernel/verbs/env.py",
    "kernel/verbs/floors.py",
    "kernel/verbs/heads.py",
    "kernel/verbs/moves.py",
    "kernel/verbs/pages.py",
    "kernel/verbs/pending.py",
    "kernel/verbs/siblings.py",
    "kernel/storage/append_postgres.py",
    "kernel/storage/append_sqlite.py",
    "kernel/storage/coalescer.py",
    "kernel/storage/driver_pool.py",
    "kernel/storage/engine.py",
    "kernel/storage/erasure.py",
    "kernel/storage/store.py",
    "kernel/storage/turns.py",
    "kernel/storage/writes.py",
)

_READS = "reads, and writes nothing: a cancelled read is tests/conformance/test_cancellation.py's"
_REPEATS = "a repeat, which writes nothing"
_RUNS = "ends a floor that a model writes: tests/runs"
_ALONE = "after a batch that raised: tests/conformance/test_append.py"
_STOPS = "when the service stops, after its last call"
_AT_ONCE = "never waits: the driver is asked for nothing"
_GRAVES = "of writes that looked no request up before, where it was asked then: tests/erasure"
_OPENS = "waits only when a connection is opened: tests/conformance/test_driver_pool.py"

# An await, or a function with all of its awaits.
ELSEWHERE = {
    "conversation_service/rpc/sessions.py:Sessions.get_session": _READS,
    "conversation_service/rpc/sessions.py:Sessions.list_sessions": _READS,
    "conversation_service/rpc/sessions.py:Sessions.list_sessions.fetch": _READS,
    "conversation_service/rpc/sessions.py:Sessions.fork_session": "copies a whole session: tests/projects",
    "conversation_service/app/sessions.py:get_session": _READS,
    "conversation_service/app/sessions.py:list_sessions": _READS,
    "conversation_service/app/sessions.py:as_answered": _REPEATS,
    "conversation_service/app/sessions.py:create_session.attempt: await as_answered(tx, answer)": (_REPEATS),
    "kernel/verbs/append.py:_likely_head: await before(tx, floor)": "only below a floor without messages",
    "kernel/verbs/answers.py:before: await tx.path_outline(parent.session_id, par…": (
        "only below a floor without messages"
    ),
    "kernel/verbs/env.py:known_session": "of forks and reads",
    "kernel/verbs/moves.py:move_head: await tx.branch(session.session_id, seen.nam…": (
        "a head that moves under the session's lock: nobody can do that"
    ),
    "kernel/verbs/pending.py:_end_run": _RUNS,
    "kernel/verbs/pending.py:fail: await _end_run(tx, env, floor, run_end, reas…": _RUNS,
    "kernel/verbs/pending.py:keep_partials": _RUNS,
    "kernel/storage/coalescer.py:Coalescer._alone": _ALONE,
    "kernel/storage/coalescer.py:Coalescer._commit: await self._alone(record)": (_ALONE),
    "kernel/storage/coalescer.py:Coalescer.idle": _STOPS,
    "kernel/storage/engine.py:Engines.close": _STOPS,
    "kernel/storage/engine.py:Engines.scrubbed": "after a purge of drafts: tests/drafts",
    "kernel/storage/driver_pool.py:DriverPool.close": _STOPS,
    "kernel/storage/driver_pool.py:DriverPool.one": _OPENS,
    "kernel/storage/driver_pool.py:DriverPool._taken": _OPENS,
    "kernel/storage/engine.py:Engines.driver: async with (self._hot_writers if writes else…": _OPENS,
    "kernel/storage/engine.py:Engines.driver: await checked_out.get_raw_connection()": _AT_ONCE,
    "kernel/storage/engine.py:Engines.reading: await connection.execution_options(isolation…": (_AT_ONCE),
    "kernel/storage/store.py:SqlStore.append: await asyncio.gather(*outcomes)": (
        "of several records: tests/conformance/test_append.py"
    ),
    "kernel/storage/store.py:SqlStore.idle": _STOPS,
    "kernel/storage/writes.py:Writes.refuse_buried": _GRAVES,
    "kernel/storage/writes.py:Writes.record: await self.refuse_buried(request.principal)": _GRAVES,
    "kernel/storage/store.py:SqlStore.glances": _READS,
}

# What only one engine does.
OTHERS = {
    "sqlite": (
        "kernel/storage/append_postgres.py:append_batch",
        "kernel/storage/store.py:SqlStore._append_batch: await append_postgres.append_batch(connectio…",
    ),
    "postgres": (
        "kernel/storage/engine.py:Engines.driver: async with (self._writer if writes else self…",
        "kernel/storage/engine.py:SqliteThread.run",
        # A turn and a connection are there at once.
        "kernel/storage/store.py:SqlStore._append_batch: async with self._turns.of('', ''), self._eng…",
        "kernel/storage/store.py:SqlStore._append_batch: await connection.run(lambda raw: append_sqli…",
    ),
}


def write_path() -> list[str]:
    """Every await of it, in the order of the files."""
    return [name for path in WRITE_PATH for name in awaits_of(path).values()]


def is_named(name: str, entry: str) -> bool:
    """Whether an entry above means this await."""
    return entry in (name, name[: name.index(": ")])
