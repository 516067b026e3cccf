"""What the service holds each of its tenants to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from conversation_service.domain.quotas import FREE, GENERATING
from conversation_service.settings import Settings
from kernel.rpc.quotas import Charged, Limits
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.storage.usage import SqlUsage
from kernel.wire import limiting

_CHARGED = Charged(FREE, GENERATING)


def limits_of(
    settings: Settings, store: SqlStore, engines: Engines, clock: Callable[[], datetime], access: bool
) -> AbstractAsyncContextManager[Limits]:
    """See kernel/wire/limiting.py."""
    return limiting.limiting(settings, store, SqlUsage(engines), _CHARGED, clock, access=access)
