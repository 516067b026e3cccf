"""A draft service that dies at a named point of an export: `python -m tests.drafts.crashing POINT`.

`written`: the export is durable, nothing was called. `called`: the ledger has it, and that is not written
down. `settled`: it is, and nobody was told.
"""

import asyncio
import os
import sys
from typing import Any

from draft_service.app import exports
from draft_service.main import build
from draft_service.rpc import exports as rpc
from draft_service.settings import Settings


def die() -> None:
    os._exit(7)


async def main(point: str) -> None:
    async with build(Settings()) as service:
        stage = service.world.ledger.stage

        async def dying(tenant_id: str, payload: bytes) -> str:
            if point == "written":
                die()
            staged_write_id = await stage(tenant_id, payload)
            if point == "called":
                die()
            return staged_write_id

        vars(service.world.ledger)["stage"] = dying
        export = exports.export_draft

        async def last(*arguments: Any) -> Any:
            found = await export(*arguments)
            if point == "settled":
                die()
            return found

        vars(rpc)["export_draft"] = last
        print(f"draft_service listening on {service.address}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
