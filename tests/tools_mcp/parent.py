"""A program that uses an MCP server and then waits: its test kills it and looks for survivors.

Prints one line of JSON: its own process id, the server's, and that of a process which the server started.
"""

import asyncio
import json
import os

from kernel.rpc.logs import configure_logs
from tests.tools_mcp.support import called, stdio, using


async def main() -> None:
    configure_logs()
    async with using(stdio()) as servers:
        pids = [int((await called(servers, tool)).content) for tool in ("pid", "begin_child")]
        print(json.dumps([os.getpid(), *pids]), flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
