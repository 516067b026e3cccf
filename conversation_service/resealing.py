"""Brings what is sealed in the conversation database under the newest key, for `stemma keys reseal`."""

from collections.abc import Sequence

from conversation_service.migrate import SCRIPTS
from kernel.sealing import Seals
from kernel.storage.engine import Engines
from kernel.storage.migrate import migrate
from kernel.storage.resealing import Resealed, Resealing


async def reseal(url: str, keys: Sequence[bytes]) -> Resealed:
    """`keys`: newest first, as `secret_keys` gives them. A SQLite file must not be in use: its service does
    the same by itself. Returns when no secret is left under an old key.

    Raises what `migrate` raises.
    """
    engines = Engines(url)
    try:
        engines.hold()
        await migrate(engines, SCRIPTS)
        return await Resealing(engines, Seals(keys)).run()
    finally:
        await engines.close()
