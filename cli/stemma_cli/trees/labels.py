"""The words beside the floors that are drawn: GetTree has none."""

from collections.abc import Sequence
from dataclasses import dataclass

from stemma.kernel.v1 import floor_pb2

from stemma_cli.client import Client
from stemma_cli.words import page_text

# Floors read for their words; the others are drawn with their sizes. Read together, this many at a time.
MAX_READ = 300
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Label:
    """Both sides' texts and the position of a floor."""

    said: str
    answered: str
    position: floor_pb2.Position


def read_labels(client: Client, floor_ids: Sequence[str], *, limit: int = MAX_READ) -> dict[str, Label]:
    """By floor id, for at most `limit` of the floors: the first and the last of them."""
    chosen = floor_ids if len(floor_ids) <= limit else [*floor_ids[: limit // 2], *floor_ids[-limit // 2 :]]
    labels = {}
    for begin in range(0, len(chosen), _AT_ONCE):
        for answer in client.get_floors(chosen[begin : begin + _AT_ONCE]):
            floor = answer.floor
            labels[floor.floor_id] = Label(
                page_text(floor.input_page), page_text(floor.output_page), answer.position
            )
    return labels


def versions_mark(position: floor_pb2.Position) -> str:
    """Where a floor stands among its versions, as in `input ‹1/2› reply ‹2/3›`; empty for the only one."""
    marks = []
    if position.input_count > 1:
        marks.append(f"input ‹{position.input_index}/{position.input_count}›")
    if position.output_count > 1:
        marks.append(f"reply ‹{position.output_index}/{position.output_count}›")
    return " ".join(marks)
