"""Counting tokens before a provider does. An estimate says that it is one."""

ESTIMATE = "estimate"
_BYTES_PER_TOKEN = 4
# What a picture costs with the common providers, roughly.
FILE_TOKENS = 512


def estimate(text: str) -> int:
    """Tokens of a text: a quarter of its UTF-8 bytes, rounded up."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)
