"""Digests: sha256 over content alone, so equal content has equal digests everywhere.

No ids, tenants, times, usage, counts or unchosen candidates go in. A floor's digest covers its
parent's, so it fixes the whole history. The formulas are part of the contract; golden vectors in
`tests/fixtures/digests.json` hold them.
"""

from collections.abc import Iterable
from hashlib import sha256

from kernel.errors import DataLoss
from kernel.tree.model import Floor, Page, Role, Slot

ABSENT = bytes(32)
ROOT_DIGEST = sha256(b"stemma.root.1").digest()


def fails_its_digest(page_id: str) -> DataLoss:
    return DataLoss(
        "DIGEST_MISMATCH", "A stored page fails its digest: run `stemma verify`.", {"page_id": page_id}
    )


def page_digest(slot: Slot, partial: bool, blob: bytes) -> bytes:
    """Over `stemma.page.1`, one byte for the slot, one for partial, and the stored bytes."""
    return sha256(b"stemma.page.1" + bytes((slot, partial)) + blob).digest()


def effects_digest(blob: bytes) -> bytes:
    return sha256(b"stemma.effects.1" + blob).digest()


# The `source` of what an erasure left in the place of words. Its digest stays that of the words, and so does
# every digest below: the history goes on saying that it is the same one.
ERASED = "erased"
# The only bytes that an erased page has, by the role of its one hidden message without parts. No client can
# write them. And how erased effects begin; no other effects do.
ERASED_PAGES = {Role.USER: b"\x0a\x04\x18\x02\x30\x01", Role.ASSISTANT: b"\x0a\x04\x18\x03\x30\x01"}
_ERASED_PAGES = frozenset(ERASED_PAGES.values())
ERASED_EFFECTS = b'{"erased":true'


def page_holds(slot: Slot, partial: bool, blob: bytes, digest: bytes | None) -> bool:
    """Whether a page's bytes are those of its digest, or were erased."""
    return page_digest(slot, partial, blob) == digest or is_erased(blob)


def is_erased(blob: bytes) -> bool:
    return blob in _ERASED_PAGES


def effects_hold(blob: bytes, digest: bytes | None) -> bool:
    return blob.startswith(ERASED_EFFECTS) or effects_digest(blob) == digest


def floor_digest(parent: bytes, input: Page | None, output: Page | None, effects: bytes = ABSENT) -> bytes:
    """Over the parent's digest and those of both sides and the effects, zeros for what is absent."""
    sides = (page.digest if page else ABSENT for page in (input, output))
    return sha256(b"stemma.floor.1" + parent + b"".join(sides) + effects).digest()


def sealed_digest(parent: bytes, floor: Floor) -> bytes:
    """What a floor below `parent` has once it is committed with what it holds."""
    effects = floor.effects.digest if floor.effects else ABSENT
    return floor_digest(parent, floor.input, floor.output, effects)


def context_digest(blobs: Iterable[bytes]) -> bytes:
    """Over the assembled messages exactly as a provider gets them."""
    digest = sha256(b"stemma.context.1")
    for blob in blobs:
        digest.update(blob)
    return digest.digest()
