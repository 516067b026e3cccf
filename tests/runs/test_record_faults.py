"""A run is opened with the record of what its model is sent, or not at all, whatever fails (C4)."""

import pytest

from kernel.errors import Unavailable
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers, ProviderSettings
from kernel.generation.runner import RunLimits
from kernel.net.guard import Guard
from kernel.prompt.config import Config, ModelConfig
from kernel.runs.control import HubRuns
from kernel.runs.respond import Input, Wish, respond
from kernel.runs.serving import generation_of
from kernel.tools.mcp_servers import McpServers
from kernel.tree.model import Role
from kernel.verbs.env import Caller, Env, Target, Write
from kernel.wire.codec import WireCodec
from tests.conformance.world import new_world, opened
from tests.state.faults import everything, faulty

# Lock, replay, configuration, branch, head, place, state, path, floor, branch, blocks, record, run, request.
LEAST = 14


async def test_a_fault_at_any_statement_opens_nothing(
    migrated_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(migrated_url) as (engines, store):
        world = await new_world(store)
        codec, hub = WireCodec(), RunHub()
        env = Env(store, HubRuns(hub, codec), codec, world.now, world.new_id)
        providers, owner = Providers(ProviderSettings(default="scripted")), world.new_id()
        servers = McpServers({}, Guard())
        generation = generation_of(store.run_log, hub, providers, servers, owner, RunLimits())
        write = Write(Caller(world.tenant, "somebody"), world.request())
        asked = Input(codec.text(Role.USER, "hello"))
        overrides = Config(model=ModelConfig(provider="scripted"))
        before = await everything(engines)
        at = 0
        while True:
            with faulty(engines, monkeypatch, at) as fault:
                try:
                    target = Target(world.session.session_id)
                    run = await respond(env, generation, write, target, asked, Wish(overrides))
                except Unavailable:
                    assert fault.struck
                else:
                    # Before the run itself writes: it ends, in a transaction of its own, without a fault.
                    struck, fault.at = fault.struck, -1
                    assert not struck
                    await hub.wait_idle()
                    break
            assert await everything(engines) == before, f"statement {at}"
            assert hub.running == 0
            at += 1
        assert at >= LEAST
        after = await everything(engines)
        assert [len(after[table]) for table in ("floor", "run", "prompt", "prompt_block")] == [2, 1, 1, 1]
        async with store.reading(world.tenant) as tx:
            record = await tx.prompt(run.run.floor_id)
        assert record is not None
        assert run.live is not None
        assert run.live.frames[0].event.context_digest == record.context_digest
