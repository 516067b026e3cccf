"""A program that uses the local model and then waits: its test kills it and looks for survivors.

Prints one line of JSON: its own process id and the model's. Prints nothing else.
"""

import asyncio
import json
import os

from kernel.generation.local import LocalProvider
from kernel.prompt.config import ModelConfig
from tests.generation.builders import asked


async def main() -> None:
    provider = LocalProvider()
    async for _ in provider.stream(asked("Hello!", model=ModelConfig(max_output_tokens=2))):
        pass
    print(json.dumps({"parent": os.getpid(), "model": provider.process.pid}), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
