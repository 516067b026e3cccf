"""Random programs over gRPC agree with the pure model, on every engine.

MODEL_SEED chooses other programs; the seed is printed with the counts. A program that disagrees is
made smaller only with MODEL_SHRINK=1: that takes minutes, and the plain one says enough to begin.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack

import uvloop
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.model.plans import SCRIPT
from tests.model.runner import Counts, run_program
from tests.model.steps import Step, programs
from tests.support.client import connect
from tests.support.service import running_service

# More in `make soak`.
PROGRAMS = int(os.environ.get("MODEL_PROGRAMS", "50"))
LENGTH = 30
PHASES = [Phase.generate, Phase.shrink] if os.environ.get("MODEL_SHRINK") else [Phase.generate]
SEED = int(os.environ.get("MODEL_SEED", "2"))


def test_random_programs_agree_with_the_model(
    migrated_url: str, record_property: Callable[[str, object], None]
) -> None:
    counts = Counts()
    # The loop that the service runs on.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        stack = AsyncExitStack()
        service = runner.run(stack.enter_async_context(running_service(migrated_url, script=SCRIPT)))
        client = runner.run(stack.enter_async_context(connect(service.address)))

        @seed(SEED)
        @settings(
            max_examples=PROGRAMS,
            deadline=None,
            database=None,
            phases=PHASES,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(programs(LENGTH))
        def agree(steps: list[Step]) -> None:
            runner.run(run_program(client, steps, counts))

        try:
            agree()
        finally:
            runner.run(stack.aclose())
    record_property("report", f"seed {SEED}: {counts.report()}")
    assert counts.programs >= PROGRAMS
    assert counts.missing() == []
