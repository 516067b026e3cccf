"""Large blocks that were freed are there for the next one: told by the page faults of a process."""

import subprocess
import sys

COUNTED = """
import resource, sys
from conversation_service.memory import keep_freed_memory
if sys.argv[1] == "keeping":
    keep_freed_memory()
parts = [bytes(100_000) for _ in range(20)]
def once():
    return [b"".join(parts) for _ in range(3)]
for _ in range(3):
    once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", COUNTED, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_freed_blocks_are_used_again() -> None:
    assert faults("keeping") * 10 < faults("as it comes")
