"""The calls that are cancelled: every write on a tree and on a session, and the ways that AppendFloor has."""

from dataclasses import dataclass
from typing import Any

from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.cancellation.stage import words
from tests.support.client import assistant, user

REQUEST_ID = "11111111-1111-7111-8111-111111111111"


@dataclass(frozen=True)
class Case:
    """`behind`: another write of the session has its turn first, until the call waits for it."""

    rpc: str
    own: dict[str, Any]
    behind: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """Of the request: the same at each repeat."""
        return {**self.own, "request_id": REQUEST_ID}


def cases(at: dict[str, str]) -> dict[str, Case]:
    """By name, over the places of a stage."""
    return _of_floors(at) | _of_heads(at) | _of_sessions(at)


def _of_floors(at: dict[str, str]) -> dict[str, Case]:
    here, opened, second = {"session_id": at["session"]}, {"floor_id": at["opened"]}, at["second"]
    side = {"branch": "side", "on_pending": floor_pb2.ON_PENDING_ABANDON}
    page = {**opened, "slot": message_pb2.SLOT_OUTPUT, "messages": [assistant("a third")], "activate": True}
    # What is judged on the path, and what is a live value.
    effects = {
        "memory": [{"op": 1, "kind": 2, "text": "so far", "covers_floor_id": at["first"]}],
        "variables": [{"scope": 2, "key": "hp", "value_json": "5"}],
    }
    again = {"floor_id": second, "output": [assistant("otherwise")], "effects": effects}
    edited = {"floor_id": second, **words("edited again"), "effects": effects}
    return {
        "AppendFloor": Case("AppendFloor", here | words("third")),
        "AppendFloor, at a fork": Case(
            "AppendFloor", {**here, "branch": "spare", **words("third"), "effects": effects}
        ),
        "AppendFloor, abandoning": Case("AppendFloor", here | side | words("third")),
        "CommitFloor": Case("CommitFloor", {**opened, "effects": effects}),
        "CommitFloor, of a page": Case("CommitFloor", {**opened, "page_id": at["page"]}),
        "EditFloor": Case("EditFloor", edited),
        "EditFloor, opening": Case("EditFloor", {"floor_id": second, "input": [user("edited again")]}),
        "EditFloor, of what waits": Case("EditFloor", opened | side | words("edited again")),
        "RegenerateFloor": Case("RegenerateFloor", again),
        "RegenerateFloor, a candidate": Case(
            "RegenerateFloor", {"floor_id": at["chosen"], "from_page_id": at["candidate"]}
        ),
        "OpenFloor": Case("OpenFloor", {**here, "input": [user("third")]}),
        "AddPage": Case("AddPage", {**page, "effects": effects}),
        "ActivatePage": Case("ActivatePage", {"page_id": at["page"]}),
        "AbandonFloor": Case("AbandonFloor", {**opened, "reason": "enough"}),
    }


def _of_heads(at: dict[str, str]) -> dict[str, Case]:
    here = {"session_id": at["session"]}
    return {
        "MoveHead": Case("MoveHead", {**here, "floor_id": at["first"]}),
        "MoveHead, behind": Case("MoveHead", {**here, "floor_id": at["first"]}, behind=True),
        "SelectSibling": Case("SelectSibling", {**here, "floor_id": at["edited"]}),
        "SelectSibling, never left": Case(
            "SelectSibling", {**here, "branch": "spare", "floor_id": at["edited"]}
        ),
        "CreateBranch": Case("CreateBranch", {**here, "name": "new", "floor_id": at["first"]}),
        "DeleteBranch": Case("DeleteBranch", {**here, "branch": "spare"}),
    }


def _of_sessions(at: dict[str, str]) -> dict[str, Case]:
    here = {"session_id": at["session"]}
    change = {"title": "b", "config": {"system_prompt": "be short"}}
    mask = {"update_mask": {"paths": ["title", "config.system_prompt"]}}
    greeting = {"config": {"greetings": ["hello"]}, "greeting_index": 0}
    return {
        "CreateSession": Case("CreateSession", {"project_id": at["project"], "title": "new"}),
        "CreateSession, greeting": Case("CreateSession", {"project_id": at["project"], **greeting}),
        "UpdateSession": Case("UpdateSession", here | change | mask),
        "ArchiveSession": Case("ArchiveSession", here),
        "RestoreSession": Case("RestoreSession", {"session_id": at["archived"]}),
        "DeleteSession": Case("DeleteSession", here),
    }
