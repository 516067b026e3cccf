"""Facts as they are stored: five bytes a message, as old rows have them too."""

import pytest

from kernel.storage.rows import pack_facts, unpack_facts
from kernel.tree.model import MessageFacts, Role


@pytest.mark.parametrize(
    ("fact", "packed"),
    [
        (MessageFacts(Role.USER, False, 5), b"\x02\x05\0\0\0"),
        (MessageFacts(Role.TOOL, True, 2**32 - 1), b"\x84\xff\xff\xff\xff"),
        (MessageFacts(Role.SYSTEM, False, 1, plain=True), b"\x41\x01\0\0\0"),
        (MessageFacts(Role.ASSISTANT, True, 1, plain=True), b"\xc3\x01\0\0\0"),
    ],
)
def test_each_is_five_bytes(fact: MessageFacts, packed: bytes) -> None:
    """Rows from before `plain` was told have its bit unset: they are known to be nothing."""
    assert pack_facts((fact, fact)) == packed * 2
    assert unpack_facts(packed * 2) == (fact, fact)
