"""The fields of requests about runs, which both services read in the same way."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kernel.errors import Invalid, Violation, invalid
from kernel.rpc.checks import Gather, reason, text_field, uuid_field
from kernel.runs.plan import Candidate
from kernel.runs.respond import Action, Edited, Input, Regenerated, Resumed
from kernel.runs.submit import Decision, Output
from kernel.wire.requests import content_of

_MAX_CANDIDATES, _MAX_INSTRUCTION, _MAX_MODEL = 8, 16_384, 128
# Of each list: no run makes more calls.
_MAX_ANSWERS, _MAX_ID = 1_000, 256
# What a request may hold; a result of more than 1 MiB is refused by the rule.
_MAX_CONTENT = 4 * 1024 * 1024


def action_of(request: Any) -> Action:
    """The one of input, edit, regenerate and resume that is given."""
    match request.WhichOneof("action"):
        case "input":
            return Input(content_of(request.input.messages, "input.messages"))
        case "edit":
            floor_id = uuid_field(request.edit.floor_id, "edit.floor_id")
            content = content_of(request.edit.messages, "edit.messages", required=True)
            assert content is not None
            return Edited(floor_id, content)
        case "regenerate":
            return Regenerated(uuid_field(request.regenerate.floor_id, "regenerate.floor_id"))
        case "resume":
            return Resumed(uuid_field(request.resume.floor_id, "resume.floor_id"))
        case _:
            raise invalid("action", "one of input, edit, regenerate and resume is required")


def candidates_of(request: Any) -> tuple[Candidate, ...]:
    """One for each page that is to be written: at least one, at most eight."""
    if not 0 <= request.candidate_count <= _MAX_CANDIDATES:
        raise invalid("candidate_count", f"must be 0 to {_MAX_CANDIDATES}")
    if len(request.candidates) > _MAX_CANDIDATES:
        raise invalid("candidates", f"at most {_MAX_CANDIDATES}")
    if request.candidate_count and request.candidates:
        raise invalid("candidates", "not together with candidate_count")
    if not request.candidates:
        return tuple(Candidate() for _ in range(max(1, request.candidate_count)))
    return tuple(_candidate(given, f"candidates[{i}]") for i, given in enumerate(request.candidates))


def _candidate(given: Any, field: str) -> Candidate:
    temperature = given.temperature if given.HasField("temperature") else None
    if temperature is not None and not 0 <= temperature <= 2:
        raise invalid(f"{field}.temperature", "must be from 0 to 2")
    return Candidate(
        instruction=text_field(given.instruction, f"{field}.instruction", maximum=_MAX_INSTRUCTION),
        temperature=temperature,
        model=text_field(given.model, f"{field}.model", maximum=_MAX_MODEL),
    )


def answers_of(request: Any) -> tuple[list[Output], list[Decision]]:
    """The results and the decisions of SubmitToolResults."""
    if found := list(_faults(request)):
        raise Invalid(*found)
    with Gather() as check:
        results = [check(_output, given, f"results[{n}]") for n, given in enumerate(request.results)]
        approvals = [check(_decision, given, f"approvals[{n}]") for n, given in enumerate(request.approvals)]
    return results, approvals


def _faults(request: Any) -> Iterator[Violation]:
    if not request.results and not request.approvals:
        yield Violation("results", "or approvals are required")
    for name in ("results", "approvals"):
        given = getattr(request, name)
        if len(given) > _MAX_ANSWERS:
            yield Violation(name, f"has at most {_MAX_ANSWERS:,} entries")
        elif any(count > 1 for count in Counter(one.call_id for one in given).values()):
            yield Violation(name, "names each call once")


def _output(given: Any, field: str) -> Output:
    with Gather() as check:
        call_id = check(text_field, given.call_id, f"{field}.call_id", maximum=_MAX_ID, required=True)
        content = check(text_field, given.content, f"{field}.content", maximum=_MAX_CONTENT)
    return Output(call_id, content, given.is_error)


def _decision(given: Any, field: str) -> Decision:
    with Gather() as check:
        call_id = check(text_field, given.call_id, f"{field}.call_id", maximum=_MAX_ID, required=True)
        why = check(reason, given.reason, f"{field}.reason")
    return Decision(call_id, given.approve, why)
