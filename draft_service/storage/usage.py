"""What of the draft service's own tables counts as stored by a tenant."""

from draft_service.storage import tables as t
from kernel.storage.usage import OF_TREES, Counted

COUNTED: Counted = {
    **OF_TREES,
    # A frozen history is kept once, however many drafts have it.
    t.snapshot: ("state",),
    t.snapshot_floor: ("input_blob", "output_blob", "effects"),
    t.export: ("payload",),
    t.proposal: ("content",),
}
