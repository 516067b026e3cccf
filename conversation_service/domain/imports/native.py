"""Checks a session of Stemma's own file as `verify` does one in a database, and puts it in order."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from conversation_service.domain.exports.model import ExportFloor, ExportPage, ExportTree
from conversation_service.domain.imports.effects import check_live, effects_of
from conversation_service.domain.imports.model import Encode, Warnings
from conversation_service.domain.limits import (
    DIGEST_MISMATCH,
    LIMIT,
    MAX_PAGE_BYTES,
    MAX_PAGE_MESSAGES,
    MAX_PATH_FLOORS,
    Refused,
    check_message,
    refuse,
)
from kernel.strict_json import NotJson, loads
from kernel.tree.digest import ABSENT, ROOT_DIGEST, effects_digest, floor_digest, page_digest
from kernel.tree.model import FloorState, Page, PageContent

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NO_TIME = datetime.fromtimestamp(0, UTC)


def checked(tree: ExportTree, encode: Encode, warnings: Warnings) -> ExportTree:
    """The session with its floors parents first, depth first, siblings by ordinal.

    Raises: Refused: DIGEST_MISMATCH for a digest that its content does not have; INVALID for what
        no session is: a cycle, a missing parent, an id used twice, a branch without its head; LIMIT.
    """
    floors = _ordered(tree)
    digests = _Digests(encode, warnings)
    by_floor = {tree.root_floor_id: ROOT_DIGEST}
    depths = {tree.root_floor_id: 0}
    for floor in floors:
        above = by_floor.get(floor.parent_floor_id)
        if above is None:
            raise refuse("A floor's parent is not committed.")
        depths[floor.floor_id] = depth = depths[floor.parent_floor_id] + 1
        for text in filter(None, (floor.effects, *floor.brought.values())):
            effects_of(text, depth)
        derived = digests.floor(above, floor)
        if floor.state is FloorState.COMMITTED:
            by_floor[floor.floor_id] = derived
    check_live(tree.live, tree.live_version)
    _check_branches(tree, by_floor.keys(), {floor.floor_id for floor in floors})
    _check_config(tree.config_json)
    return replace(tree, floors=tuple(floors))


def _ordered(tree: ExportTree) -> Sequence[ExportFloor]:
    below: dict[str, list[ExportFloor]] = {tree.root_floor_id: []}
    for floor in tree.floors:
        if below.setdefault(floor.floor_id, []) or floor.floor_id == tree.root_floor_id:
            raise refuse("Two floors have the same id.")
    if len(below) != len(tree.floors) + 1:
        raise refuse("Two floors have the same id.")
    for floor in tree.floors:
        if floor.parent_floor_id not in below:
            raise refuse("A floor's parent is not in the file.")
        below[floor.parent_floor_id].append(floor)
    order: list[ExportFloor] = []
    waiting = [(floor, 1) for floor in _last_first(below[tree.root_floor_id])]
    while waiting:
        floor, depth = waiting.pop()
        if depth > MAX_PATH_FLOORS:
            raise Refused(LIMIT, f"A path is longer than {MAX_PATH_FLOORS} turns.")
        order.append(floor)
        waiting.extend((child, depth + 1) for child in _last_first(below[floor.floor_id]))
    if len(order) < len(tree.floors):
        raise refuse("The parents of some floors form a cycle.")
    return order


def _last_first(siblings: list[ExportFloor]) -> list[ExportFloor]:
    return sorted(siblings, key=lambda floor: floor.ordinal)[::-1]


class _Digests:
    """Derives digests, each page's once."""

    def __init__(self, encode: Encode, warnings: Warnings) -> None:
        self._encode = encode
        self._warnings = warnings
        self._pages: dict[str, bytes] = {}

    def floor(self, above: bytes, floor: ExportFloor) -> bytes:
        """Checks the floor's pages and, once committed, its digest."""
        for page in floor.pages:
            self._page(page)
        if floor.state is not FloorState.COMMITTED:
            return b""
        if not (floor.input or floor.output or floor.effects):
            raise refuse("A committed floor holds nothing.")
        effects = effects_digest(floor.effects.encode()) if floor.effects else ABSENT
        derived = floor_digest(above, self._as_page(floor.input), self._as_page(floor.output), effects)
        self._compare(floor.digest, derived, "A floor")
        return derived

    def _page(self, page: ExportPage) -> bytes:
        if page.page_id not in self._pages:
            _check_page(page)
            derived = page_digest(page.slot, page.partial, self._encode(page.messages))
            self._compare(page.digest, derived, "A page")
            self._pages[page.page_id] = derived
        return self._pages[page.page_id]

    def _as_page(self, page: ExportPage | None) -> Page | None:
        if page is None:
            return None
        nothing = PageContent(b"", ())
        return Page(
            page.page_id, "", page.slot, nothing, self._page(page), 0, page.partial, page.source, _NO_TIME
        )

    def _compare(self, stated: str, derived: bytes, what: str) -> None:
        if not stated:
            self._warnings.add(f"{what} states no digest: nothing could be compared.")
        elif stated != derived.hex():
            raise Refused(DIGEST_MISMATCH, f"{what} does not have the digest that the file states.")


def _check_page(page: ExportPage) -> None:
    if not 1 <= len(page.messages) <= MAX_PAGE_MESSAGES:
        raise Refused(LIMIT, f"A page has no message, or more than {MAX_PAGE_MESSAGES}.")
    if sum(check_message(message, "A message") for message in page.messages) > MAX_PAGE_BYTES:
        raise Refused(LIMIT, "A page is larger than 3 MiB.")


def _check_branches(tree: ExportTree, committed: Collection[str], floors: set[str]) -> None:
    names = [branch.name for branch in tree.branches]
    if len(set(names)) != len(names) or "main" not in names:
        raise refuse("The session has no branch main, or two of one name.")
    for branch in tree.branches:
        if not _BRANCH.fullmatch(branch.name):
            raise refuse("A branch has a name that is none.")
        if branch.head_floor_id not in committed:
            raise refuse("A branch's head is no committed floor of the file.")
        if any(held not in floors for held in (branch.pending_floor_id, branch.failed_floor_id) if held):
            raise refuse("A branch's pending or failed floor is not in the file.")


def _check_config(text: str) -> None:
    try:
        if text and not isinstance(loads(text), dict):
            raise refuse("The session's configuration is not an object.")
    except NotJson as error:
        raise refuse(f"The session's configuration {error}.") from None
