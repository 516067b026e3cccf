"""How the process keeps memory."""

import ctypes

# Of <malloc.h>, and bytes: a block of that size is not asked of the system by itself; so much may stay free.
_MMAP_THRESHOLD, _BLOCK = -3, 16 * 1024 * 1024
_TRIM_THRESHOLD, _FREE = -1, 64 * 1024 * 1024


def keep_freed_memory() -> None:
    """Large blocks that were freed stay here for the next one, on glibc; elsewhere nothing happens.

    An answer of 2 MiB is joined, copied by gRPC and freed. Left to itself, glibc gives it back each time,
    and the next one takes a fault for every page of it: longer than all else that is done for it.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _BLOCK)
        mallopt(_TRIM_THRESHOLD, _FREE)
