"""What the service holds each of its tenants to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from draft_service.domain.quotas import FREE, GENERATING
from draft_service.settings import Settings
from draft_service.storage.usage import COUNTED
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
    return limiting.limiting(settings, store, SqlUsage(engines, COUNTED), _CHARGED, clock, access=access)
