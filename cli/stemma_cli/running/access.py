"""What `stemma up` makes where access is on: the services' own key, and the first one for people."""

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path

from stemma_cli.dialling import KEY, KEY_FILE
from stemma_cli.keys import LOCAL, asked, by_hand


def for_access(environment: Mapping[str, str]) -> dict[str, str]:
    """The services' environment with access on. They call each other by a key that ends with them, unless
    one is set; the key of whoever started them is none of theirs."""
    made = {name: value for name, value in environment.items() if name not in (KEY, KEY_FILE)}
    made["STEMMA_AUTH"] = made.get("STEMMA_AUTH") or "on"
    if not made.get("STEMMA_SERVICE_KEY"):
        made["STEMMA_SERVICE_KEY"] = f"stk_{secrets.token_urlsafe(32)}"
    return made


def first_key(settings: Mapping[str, str]) -> str:
    """A new owner's key, with the scope `admin`, of the tenant `local`: what was written with access off is
    there. "" where the tenant has keys, or had, or where tokens let people in. The services must not run yet.

    Raises CliError.
    """
    if settings.get("STEMMA_JWT_ISSUER"):
        return ""
    return asyncio.run(_first_key(Path(settings.get("STEMMA_DATA") or "data")))


async def _first_key(data: Path) -> str:
    from stemma.conversation.v1 import access_service_pb2 as pb

    async with by_hand(LOCAL, data) as keys:
        if (await keys.list(pb.ListApiKeysRequest(page_size=1))).api_keys:
            return ""
        request = asked(LOCAL, "owner", ["admin"], "made by stemma up", "")
        return str((await keys.create(request)).secret)
