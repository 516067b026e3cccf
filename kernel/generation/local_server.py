"""The local model's own process: `python -m kernel.generation.local_server`.

Started by `LocalModelProcess`, which writes one line of JSON to its standard input
(`{"model_path", "api_key", "parent_pid", "threads"}`) and reads one from its standard output
(`{"address"}`). Serves the OpenAI HTTP API on a loopback port of the system's choice, to holders of
the key. Ends with its parent, however that ends: its standard input closes then, and on Linux the
kernel kills it. Ignores SIGINT and SIGTERM, which reach whole process groups: the parent decides
when its last run is done, and then closes the input.
"""

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any, BinaryIO

CONTEXT_TOKENS = 4_096
# Two conversations at once, each with the whole context.
_SLOTS = 2
_MAX_OUTPUT_TOKENS = 1_024
_PROMPT_CACHE_MIB = 128
_PR_SET_PDEATHSIG = 1


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    orders = json.loads(sys.stdin.buffer.readline())
    _die_with(orders["parent_pid"])
    watcher = threading.Thread(target=_exit_at_end_of, args=(sys.stdin.buffer,), daemon=True)
    watcher.start()
    report = _private_stdout()
    server = _serve(orders)
    with report:
        report.write(json.dumps({"address": server.listening_address}).encode() + b"\n")
    # The server works in native threads; the process ends when the watcher says so.
    watcher.join()


def _die_with(parent_pid: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        # It died before the request was in place.
        os._exit(0)


def _exit_at_end_of(stream: BinaryIO) -> None:
    while stream.read(4_096):
        pass
    # At once: nothing here needs tidying, and a running generation would hold a clean exit up.
    os._exit(0)


def _private_stdout() -> BinaryIO:
    """The standard output, kept from the native code, which logs there: it gets standard error."""
    report = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return report


def _serve(orders: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = orders["model_path"]
    # What answers call the model; its path otherwise.
    params.model_alias = {"local"}
    params.api_keys = [orders["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = _SLOTS
    params.n_ctx = CONTEXT_TOKENS * _SLOTS
    params.n_predict = _MAX_OUTPUT_TOKENS
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = orders["threads"]
    params.n_threads_http = 2 * _SLOTS
    # A context that ends with an assistant's message is answered, not continued in mid-sentence.
    params.prefill_assistant = False
    params.cors_origins = ""
    params.ui = params.endpoint_slots = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
