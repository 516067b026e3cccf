"""How an imported message says that it is one."""

from dataclasses import replace

from kernel.tree.message import Message

# In the metadata of every imported message, whatever its file says (bad input 46): it was said by
# nobody here. Pages say more: their source is `import:<format>`.
SOURCE_KEY, UNTRUSTED = "stemma.provenance", "untrusted_import"
# When it was said, in the file's own words.
TIME_KEY = "time"


def untrusted(message: Message) -> Message:
    """The message as imported: with its provenance, which no file can set."""
    return replace(message, metadata={**message.metadata, SOURCE_KEY: UNTRUSTED})
