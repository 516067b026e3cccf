"""What stands before a session's own floors: nothing, unless a service has tables for it."""

from kernel.storage.reads import Scoped
from kernel.verbs.prefix_store import NoPrefix


class PrefixReads(NoPrefix, Scoped):
    """See `kernel.verbs.prefix_store`."""
