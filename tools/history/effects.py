"""R2: what was acknowledged is there, unchanged. R3: every request is there wholly or not at all, a refused
one not at all, and what is there was asked for."""

from __future__ import annotations

from collections import Counter

from tools.history.evidence import MAKES_A_FLOOR, Ask, Evidence, named
from tools.history.model import COMMITTED, Answer, FloorRow, Operation, RequestRow


def judge(evidence: Evidence) -> None:
    for ask in evidence.every_ask():
        if ask.told is not None:
            _kept(evidence, ask)
        if ask.row is not None:
            _whole(evidence, ask, ask.row)
    _commits_are_whole(evidence)
    _requests_were_made(evidence)
    _floors_were_asked_for(evidence)
    _others_were_asked_for(evidence)


def _kept(evidence: Evidence, ask: Ask) -> None:
    """R2: one acknowledged request."""
    call = ask.told
    assert call is not None
    assert call.answer is not None
    if ask.row is None:
        if ask.key not in evidence.rows:
            evidence.lose(ask, f"{named(call)} was acknowledged, and there is no record of its request")
        # Recorded with other content: R1 says so.
        evidence.lost.add((ask.key, ask.fingerprint))
        return
    row, answer = ask.row, call.answer
    for what, was, is_now in (
        ("floor", answer.floor_id, row.floor_id),
        ("page", answer.page_id, row.page_id),
        ("head", answer.head_floor_id, row.head_floor_id),
        ("version of the branch", answer.version, row.version),
    ):
        if was != is_now:
            evidence.lose(
                ask, f"{named(call)} was acknowledged with the {what} {was}; what is recorded is {is_now}"
            )
            return
    _kept_floor(evidence, ask, answer)


def _kept_floor(evidence: Evidence, ask: Ask, answer: Answer) -> None:
    call, floor = ask.blamed, evidence.floors.get(answer.floor_id)
    if not answer.floor_id:
        return
    if floor is None:
        evidence.lose(ask, f"{named(call)} was acknowledged with the floor {answer.floor_id}, which is gone")
        return
    names = ["parent_floor_id", "depth"]
    if answer.state == COMMITTED:
        names += ["state", "digest", "input", "output"]
    for name in names:
        was, is_now = getattr(answer, name), getattr(floor, name)
        if was != is_now:
            evidence.lose(
                ask,
                f"{named(call)} was acknowledged with the floor {floor.floor_id}; its {name} was {was!r}"
                f" then and is {is_now!r} now",
            )
            return


def _whole(evidence: Evidence, ask: Ask, row: RequestRow) -> None:
    """R3: one request that is recorded as done."""
    if ask.refused:
        call = ask.first
        evidence.broken("R3", f"{named(call)} was refused with {call.reason}, and yet it happened", call)
    if missing := _missing(evidence, ask, row):
        text = f"{named(ask.blamed)} is recorded as done, but {missing}"
        if ask.told is None:
            evidence.broken("R3", text, ask.blamed)
        elif (ask.key, ask.fingerprint) not in evidence.lost:
            evidence.lose(ask, text)


def _missing(evidence: Evidence, ask: Ask, row: RequestRow) -> str:
    """What a recorded request should have left and did not; empty when all is there."""
    call = ask.first
    if row.method == "CreateSession":
        return "" if row.session_id in evidence.sessions else f"there is no session {row.session_id}"
    if row.branch and (row.session_id, row.branch) not in evidence.branches:
        return f"there is no branch {row.branch} of the session {row.session_id}"
    if row.method == "AddPage":
        page = evidence.pages.get(row.page_id)
        if page is None:
            return f"there is no page {row.page_id}"
        if page.floor_id != call.floor_id:
            return f"the page {row.page_id} is one of the floor {page.floor_id}, not of {call.floor_id}"
        return "" if page.content == call.output else f"the page {row.page_id} says something else"
    if row.method not in MAKES_A_FLOOR and row.method != "CommitFloor":
        return ""
    floor = evidence.floors.get(row.floor_id)
    if floor is None:
        return f"there is no floor {row.floor_id}"
    if row.floor_state == COMMITTED and floor.state != COMMITTED:
        return f"its floor {floor.floor_id} is {floor.state}, not committed"
    return _unsaid(evidence, ask, floor)


def _unsaid(evidence: Evidence, ask: Ask, floor: FloorRow) -> str:
    """What a floor should say, after its request, and does not."""
    call = ask.first
    if call.method == "CommitFloor":
        if floor.floor_id != call.floor_id:
            return f"it committed the floor {floor.floor_id}, not {call.floor_id}"
        if call.page_id and floor.output_page_id != call.page_id:
            return f"the output of the floor {floor.floor_id} is not the page {call.page_id} that it chose"
        page = evidence.pages.get(floor.output_page_id)
        same = floor.output == (page.content if page else "")
        return "" if same else f"the output of the floor {floor.floor_id} is none of its pages"
    source = evidence.floors.get(call.floor_id)
    if call.method in ("EditFloor", "RegenerateFloor"):
        if source is None:
            return f"there is no floor {call.floor_id}, which it was made from"
        if source.parent_floor_id != floor.parent_floor_id:
            return f"its floor {floor.floor_id} is no sibling of {call.floor_id}"
    asked = source.input if source and call.method == "RegenerateFloor" else call.input
    if floor.input != asked:
        return f"the input of its floor {floor.floor_id} is not what was said"
    if call.method != "OpenFloor" and floor.output != call.output:
        return f"the output of its floor {floor.floor_id} is not what was said"
    return ""


def _commits_are_whole(evidence: Evidence) -> None:
    """R3: a floor is committed together with one move of a head to it."""
    commits = Counter(move.to_floor_id for move in evidence.dump.moves if move.kind == "commit")
    roots = {session.root_floor_id for session in evidence.dump.sessions}
    for floor in evidence.dump.floors:
        moves = commits.pop(floor.floor_id, 0)
        expected = int(floor.state == COMMITTED and floor.floor_id not in roots)
        if moves != expected:
            evidence.broken(
                "R3",
                f"the floor {floor.floor_id} is {floor.state}, and {moves} head moves tell of its commit;"
                f" expected {expected}",
                evidence.behind(floor.floor_id),
            )
    for floor_id in commits:
        evidence.broken(
            "R3",
            f"a head move tells of the commit of the floor {floor_id}, which is not there",
            evidence.behind(floor_id),
        )


def _requests_were_made(evidence: Evidence) -> None:
    seen: dict[str, RequestRow] = {}
    for row in evidence.dump.requests:
        ask = evidence.ask_of(row)
        if ask is None and not evidence.asks.get((row.tenant, row.method, row.request_id)):
            evidence.broken(
                "R3", f"the request {row.request_id} ({row.method}) is recorded; nobody ever made it"
            )
        elif ask is None:
            calls = [a.first for a in evidence.asks[row.tenant, row.method, row.request_id].values()]
            evidence.broken("R3", f"what is recorded for {named(calls[0])} is not what was asked", *calls)
        if row.method in MAKES_A_FLOOR:
            twin = seen.setdefault(row.floor_id, row)
            if twin is not row:
                asks = (ask, evidence.ask_of(twin))
                evidence.broken(
                    "R3",
                    f"the requests {row.request_id} and {twin.request_id} both made the floor {row.floor_id}",
                    *(a.blamed for a in asks if a),
                )


def _floors_were_asked_for(evidence: Evidence) -> None:
    by_words = {ask.said: ask for ask in evidence.every_ask() if ask.said}
    roots = {session.root_floor_id for session in evidence.dump.sessions}
    recorded = {row.floor_id for row in evidence.dump.requests}
    for floor in evidence.dump.floors:
        if floor.floor_id in evidence.made_by or floor.floor_id in roots or floor.floor_id in recorded:
            continue
        ask = by_words.get(floor.output) or by_words.get(floor.input)
        _unclaimed(evidence, floor, ask)


def _unclaimed(evidence: Evidence, floor: FloorRow, ask: Ask | None) -> None:
    if ask is None:
        evidence.broken("R3", f"there is a floor {floor.floor_id} that nobody asked for")
    elif ask.row is not None and ask.row.floor_id:
        evidence.broken(
            "R1",
            f"{named(ask.blamed)} took effect twice: as the floor {ask.row.floor_id} and as {floor.floor_id}",
            *_calls(ask),
        )
    elif ask.refused:
        call = ask.first
        evidence.broken(
            "R3", f"{named(call)} was refused with {call.reason}, and left the floor {floor.floor_id}", call
        )
    else:
        evidence.broken(
            "R3",
            f"{named(ask.blamed)} left the floor {floor.floor_id}, but no record of its request: half of it",
            ask.blamed,
        )


def _calls(ask: Ask) -> list[Operation]:
    return [ask.blamed, *(call for call in ask.calls if call is not ask.blamed)]


def _others_were_asked_for(evidence: Evidence) -> None:
    sessions = {row.session_id for row in evidence.dump.requests if row.method == "CreateSession"}
    for session in evidence.dump.sessions:
        if session.session_id not in sessions:
            evidence.broken("R3", f"there is a session {session.session_id} that nobody asked for")
    pages = {row.page_id for row in evidence.dump.requests if row.method == "AddPage"}
    for page in evidence.dump.pages:
        if page.page_id not in pages:
            evidence.broken("R3", f"there is a page {page.page_id} that nobody asked for")
