"""The draft database's schema."""

from pathlib import Path

from kernel.storage.engine import Engines
from kernel.storage.migrate import migrate as apply

SCRIPTS = Path(__file__).parent / "migrations"


async def migrate(url: str) -> str:
    """Creates or upgrades the database behind the URL; returns its revision."""
    engines = Engines(url)
    try:
        engines.hold()
        return await apply(engines, SCRIPTS)
    finally:
        await engines.close()
