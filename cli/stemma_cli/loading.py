"""`stemma bench`: callers in threads, each with a conversation of its own."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from rich.table import Table
from stemma.kernel.v1 import message_pb2

from stemma_cli.client import Client
from stemma_cli.errors import Interrupted
from stemma_cli.output import Output
from stemma_cli.words import plural

# A turn is so long, in characters.
_ASKED, _SAID = "What was it? " * 30, "It was like this. " * 45
# Turns of a path that is read, at most: what one answer holds.
_PATH = 100


@dataclass(frozen=True, slots=True)
class Load:
    """Calls of one kind. `milliseconds` of each, sorted; never empty."""

    name: str
    seconds: float
    milliseconds: Sequence[float]

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self.milliseconds) / self.seconds

    def quantile(self, share: float) -> float:
        """The milliseconds that this share of the calls stayed within."""
        last = len(self.milliseconds) - 1
        return self.milliseconds[min(last, int(share * len(self.milliseconds)))]


def load(out: Output, client: Client, callers: int, seconds: float) -> None:
    """Prints a line for each kind of call. Raises ApiError when one fails; nothing is left then either."""
    asked = _say(message_pb2.ROLE_USER, _ASKED)
    said = _say(message_pb2.ROLE_ASSISTANT, _SAID)
    kinds: dict[str, Callable[[str], object]] = {
        "AppendFloor": lambda session_id: client.append_floor(session_id, asked, said),
        "ListPath": lambda session_id: client.path_page(session_id, "", newest_first=True, size=_PATH),
    }
    table = Table("call", "calls", "per second", "median", "95 %", "99 %", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    with _sessions(client, callers) as ids:
        out.note(f"{plural(callers, 'caller')}, {seconds:g} s for each kind of call, at {client.address}")
        for name, call in kinds.items():
            done = _load(name, call, ids, seconds)
            quantiles = [done.quantile(share) for share in (0.5, 0.95, 0.99)]
            out.answer_dict(
                {
                    "call": name,
                    "calls": len(done.milliseconds),
                    "perSecond": round(done.rate, 1),
                    **{
                        f"p{share}Ms": round(ms, 2) for share, ms in zip((50, 95, 99), quantiles, strict=True)
                    },
                }
            )
            cells = [
                f"{len(done.milliseconds):,}",
                f"{done.rate:,.0f}",
                *(f"{ms:,.2f} ms" for ms in quantiles),
            ]
            table.add_row(name, *cells)
    out.table(table)


@contextmanager
def _sessions(client: Client, count: int) -> Iterator[list[str]]:
    ids: list[str] = []
    try:
        for _ in range(count):
            ids.append(client.create_session().session.session_id)
        yield ids
    except KeyboardInterrupt:
        raise Interrupted("Stopped.") from None
    finally:
        for session_id in ids:
            client.delete_session(session_id)


def _load(name: str, call: Callable[[str], object], ids: Sequence[str], seconds: float) -> Load:
    """One thread for each id, calling again and again."""
    stop = threading.Event()
    started = time.perf_counter()

    def caller(session_id: str) -> list[float]:
        taken = []
        while not stop.is_set() and (begin := time.perf_counter()) < started + seconds:
            call(session_id)
            taken.append((time.perf_counter() - begin) * 1e3)
        return taken

    with ThreadPoolExecutor(len(ids)) as pool:
        try:
            found = list(pool.map(caller, ids))
        finally:
            # Whatever ended one caller ends the others.
            stop.set()
    return Load(name, time.perf_counter() - started, sorted(ms for taken in found for ms in taken))


def _say(role: "message_pb2.Role", text: str) -> message_pb2.Message:
    return message_pb2.Message(role=role, parts=[message_pb2.Part(text=message_pb2.TextPart(text=text))])
