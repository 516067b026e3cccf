"""Runs one program against the service and the model, and compares them after every step."""

from collections import Counter
from dataclasses import dataclass
from uuid import uuid4

from google.protobuf.message import Message

from tests.model.audit import Audit
from tests.model.plans import Plan, Planner
from tests.model.runs import Runs
from tests.model.steps import WEIGHTS, Step
from tests.model.tree_model import TreeModel
from tests.model.values import Branch, Floor, Page, Refused
from tests.model.wire import Comparison
from tests.support.client import Client, Refusal, answer_of, request_for

CODES = {
    "HEAD_MOVED": "ABORTED",
    "FLOOR_PENDING": "FAILED_PRECONDITION",
    "FLOOR_SEALED": "FAILED_PRECONDITION",
    "FLOOR_FAILED": "FAILED_PRECONDITION",
    "RUN_ACTIVE": "FAILED_PRECONDITION",
    "NOT_FOUND": "NOT_FOUND",
    "INVALID": "INVALID_ARGUMENT",
    "REQUEST_ID_REUSED": "ALREADY_EXISTS",
}
AUDIT_EVERY = 15


class Counts:
    """How often each verb was answered, and each error met, over all programs."""

    def __init__(self) -> None:
        self.programs = 0
        self.steps = 0
        self.verbs: Counter[str] = Counter(dict.fromkeys(WEIGHTS, 0))
        self.errors: Counter[str] = Counter(dict.fromkeys(CODES, 0))

    def missing(self) -> list[str]:
        return [name for counter in (self.verbs, self.errors) for name, count in counter.items() if not count]

    def report(self) -> str:
        lines = [f"{self.programs} programs, {self.steps} steps"]
        for title, counter in (("answered", self.verbs), ("refused", self.errors)):
            lines.append(f"{title}: " + ", ".join(f"{name} {count}" for name, count in counter.items()))
        return "\n".join(lines)


@dataclass(frozen=True)
class Sent:
    """A call that was answered, for asking again."""

    verb: str
    rpc: str
    request: Message
    raw: bytes


class Program:
    """One session, its model, and what was sent so far."""

    def __init__(self, client: Client, comparison: Comparison, counts: Counts) -> None:
        self._client = client
        self._same = comparison
        self._model = comparison.model
        self._counts = counts
        self._planner = Planner(comparison)
        self._audit = Audit(client, comparison)
        self._runs = Runs(client, comparison)
        self._sent: list[Sent] = []
        self._trace: list[str] = []

    async def run(self, steps: list[Step]) -> None:
        try:
            for number, step in enumerate(steps, 1):
                await self._step(step)
                await self._runs.drain()
                if number % AUDIT_EVERY == 0:
                    await self._audit.branch(self._planner.branch(step))
            await self._runs.stop()
            await self._audit.everything()
        except Exception as error:
            error.add_note("The program so far:\n" + "\n".join(self._trace))
            raise
        self._counts.programs += 1
        self._counts.steps += len(steps)

    async def _step(self, step: Step) -> None:
        self._trace.append(repr(step))
        if step.verb == "look":
            await self._look(step)
        elif step.verb == "cancel_run" and (self._runs.waiting or step.form % 3 == 0):
            await self._cancel_run(step)
        elif step.verb in ("repeat", "reuse"):
            await self._again(step)
        else:
            verb, plan = self._planner.verb(step), self._planner.plan(step)
            self._trace.append(f"{plan.rpc} {plan.fields}")
            await self._call(verb, plan)

    async def _look(self, step: Step) -> None:
        await self._audit.branch(self._planner.branch(step))
        self._counts.verbs["look"] += 1

    async def _cancel_run(self, step: Step) -> None:
        running = list(self._runs.waiting)
        if not running:
            missing = await self._client.refused("CancelRun", run_id=str(uuid4()))
            self._expect(Refused("NOT_FOUND"), missing)
            return
        await self._runs.cancel(running[step.pick % len(running)], keep=step.form % 2 == 0)
        self._counts.verbs["cancel_run"] += 1

    async def _call(self, verb: str, plan: Plan) -> None:
        request = request_for(plan.rpc, **plan.fields)
        try:
            expected = self._expected(plan)
        except Refused as refused:
            self._expect(refused, await self._client.refusal(plan.rpc, request))
            return
        self._counts.verbs[verb] += 1
        if plan.rpc == "Respond":
            await self._runs.respond(request, expected)
            return
        raw = await self._client.raw(plan.rpc, request)
        self._model.answered(plan.rpc, request.request_id, _content(request))
        self._sent.append(Sent(verb, plan.rpc, request, raw))
        self._compare(answer_of(plan.rpc, raw), expected)

    def _expected(self, plan: Plan) -> Floor | Branch | Page:
        if plan.malformed:
            raise Refused("INVALID")
        return plan.apply()

    def _expect(self, refused: Refused, found: Refusal) -> None:
        assert (found.code, found.reason) == (refused.code or CODES[refused.reason], refused.reason)
        if refused.reason == "HEAD_MOVED":
            assert found.metadata["current_head"] == self._same.floors.of(refused.floor)
        if refused.reason == "FLOOR_PENDING":
            assert found.metadata["pending_floor_id"] == self._same.floors.of(refused.floor)
        self._counts.errors[refused.reason] += 1

    def _compare(self, answer: Message, expected: Floor | Branch | Page) -> None:
        if isinstance(expected, Page):
            self._same.same_page(expected, answer.page)
            self._same.same_floor(self._model.floors[expected.floor], answer.floor)
        elif isinstance(expected, Branch):
            self._same.same_branch(expected, answer.branch)
        else:
            self._same.same_floor(expected, answer.floor)
            if "branch" in answer.DESCRIPTOR.fields_by_name:
                self._same.same_branch(self._model.branches[expected.branch], answer.branch)

    async def _again(self, step: Step) -> None:
        """An answered call once more (R1), as it was or with other content."""
        able = [sent for sent in self._sent if step.verb == "repeat" or sent.rpc != "ActivatePage"]
        if not able:
            return
        sent = able[step.pick % len(able)]
        request = type(sent.request)()
        request.CopyFrom(sent.request)
        if step.verb == "reuse":
            self._change(request)
        try:
            assert self._model.seen(sent.rpc, request.request_id, _content(request))
        except Refused as refused:
            self._expect(refused, await self._client.refusal(sent.rpc, request))
        else:
            assert await self._client.raw(sent.rpc, request) == sent.raw
        self._counts.verbs[step.verb] += 1

    def _change(self, request: Message) -> None:
        """Another valid request: its last message twice, or another floor of the session, or a name."""
        fields = request.DESCRIPTOR.fields_by_name
        for name in ("input", "output", "messages"):
            if name in fields and getattr(request, name):
                getattr(request, name).append(getattr(request, name)[-1])
                return
        others = [key for key in self._same.floors.ids.values() if key != getattr(request, "floor_id", key)]
        if others:
            request.floor_id = others[0]
        else:
            name = "name" if "name" in fields else "branch"
            setattr(request, name, f"other{getattr(request, name)}")


def _content(request: Message) -> bytes:
    copy = type(request)()
    copy.CopyFrom(request)
    copy.ClearField("request_id")
    return copy.SerializeToString(deterministic=True)


async def run_program(client: Client, steps: list[Step], counts: Counts) -> None:
    session = (await client.call("CreateSession")).session
    comparison = Comparison(TreeModel(), session.session_id, session.root_floor_id)
    await Program(client, comparison, counts).run(steps)
