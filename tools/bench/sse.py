"""gRPC to Server-Sent Events: the gateway beside a bare forwarder, both before the same source."""

from tools.bench import processes
from tools.bench.bench import Bench
from tools.bench.processes import Server

# Streams at once, and the frames of each, for each second of a load.
SHAPES = {200: 40, 1_000: 10}


async def sse(bench: Bench) -> None:
    folder = bench.folder
    async with processes.server(["-m", "tools.bench.sse_source"], {}, folder) as source:
        settings = {"STEMMA_CONVERSATION": source.address, "STEMMA_HTTP": "127.0.0.1:0"}
        async with (
            processes.server(["-m", "gateway"], settings, folder) as gateway,
            processes.server(["-m", "tools.bench.sse_forwarder", source.address], {}, folder) as bare,
        ):
            for number in range(bench.size.rounds):
                bench.say(f"gRPC to SSE, round {number + 1} of {bench.size.rounds}")
                for streams, frames in SHAPES.items():
                    count = max(2, round(frames * bench.size.seconds))
                    await _read(bench, f"sse.bare.{streams}", bare, streams, count)
                    await _read(bench, f"sse.gateway.{streams}", gateway, streams, count)


async def _read(bench: Bench, name: str, server: Server, streams: int, frames: int) -> None:
    before = server.cpu_seconds()
    answer = await bench.client.ask("sse", url=server.address, streams=streams, frames=frames)
    bench.add(name, answer["rate"])
    bench.add(f"{name}.cpu", (server.cpu_seconds() - before) * 1e3 / answer["calls"])
