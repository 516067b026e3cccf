"""Turns a step into one call: what to send, and what the model does with it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.model.choices import ASSISTANT, MALFORMED, USER, Choices, protos
from tests.model.rules import Messages
from tests.model.steps import Step
from tests.model.values import INPUT, OUTPUT, UNKNOWN, Branch, Floor, Msg, Page, State

NEED_PENDING = ("add_page", "activate", "commit", "abandon")
NEED_TURNS = ("edit", "regenerate", "move_head", "select_sibling")
# Last user messages that the scripted provider never finishes answering, and what it says first.
HANGS = {"hang": "", "hang after two": "one two "}
SCRIPT = json.dumps(
    {
        "replies": [
            {"when": "hang", "hang_after": 0},
            {"when": "hang after two", "deltas": ["one ", "two ", "three"], "hang_after": 2},
        ]
    }
)


@dataclass(frozen=True)
class Plan:
    """`apply` changes the model, or raises Refused and changes nothing. `malformed`: not even asked."""

    rpc: str
    fields: dict[str, Any]
    apply: Callable[[], Floor | Branch | Page]
    malformed: bool = False


class Planner(Choices):
    """Reads steps against the model as it is now: one method a verb."""

    def plan(self, step: Step) -> Plan:
        self._number += 1
        return getattr(self, f"_{self.verb(step)}")(step)

    def verb(self, step: Step) -> str:
        """Mostly the step's own, unless it has nothing to work on yet: then one that makes it."""
        if step.form % 3 == 0:
            return step.verb
        if step.verb in NEED_PENDING and self._pending(step) is None:
            return "open"
        if step.verb == "cancel_run":
            return "start_run"
        if step.verb in NEED_TURNS and len(self._model.floors) == 1:
            return "append"
        return step.verb

    # --- verbs ---------------------------------------------------------------------------------

    def _append(self, step: Step) -> Plan:
        aim, fields = self._aim(step)
        input, output = self._sides(step)
        fields |= {"input": protos(input), "output": protos(output)}
        return self._plan("AppendFloor", step, fields, lambda: self._model.append(aim, input, output))

    def _open(self, step: Step) -> Plan:
        aim, fields = self._aim(step)
        input = () if step.form % 5 == 4 else self._input(step)
        return self._plan(
            "OpenFloor", step, fields | {"input": protos(input)}, lambda: self._model.open(aim, input)
        )

    def _add_page(self, step: Step) -> Plan:
        floor = self._owned(step)
        slot = INPUT if step.form % 3 == 0 else OUTPUT
        messages = (
            () if step.fault == "empty" else self._messages(step, ASSISTANT if slot == OUTPUT else USER)
        )
        activate = step.form % 2 == 1
        fields = self._named(step, floor) | {
            "slot": slot,
            "messages": protos(messages),
            "activate": activate,
        }
        return self._plan(
            "AddPage", step, fields, lambda: self._model.add_page(floor, slot, messages, activate)
        )

    def _activate(self, step: Step) -> Plan:
        page = UNKNOWN if step.fault == "unknown" else self._version(step)
        page_id = MALFORMED if step.fault == "malformed" else self._same.pages.of(page)
        return self._plan("ActivatePage", step, {"page_id": page_id}, lambda: self._model.activate(page))

    def _commit(self, step: Step) -> Plan:
        floor = self._owned(step)
        expected, head = self._head(step, self.branch(step))
        own = self._model.floors.get(floor)
        outputs = [p for p in own.pages if self._model.pages[p].slot == OUTPUT] if own else []
        page = outputs[step.pick % len(outputs)] if outputs and step.form % 2 else None
        page = UNKNOWN if step.form == 14 else page
        fields = self._named(step, floor) | {"page_id": self._same.pages.of(page), "expected_head": head}
        return self._plan("CommitFloor", step, fields, lambda: self._model.commit(floor, page, expected))

    def _abandon(self, step: Step) -> Plan:
        floor = self._owned(step)
        reason = f"because {self._number}" if step.form % 2 else ""
        fields = self._named(step, floor) | {"reason": reason}
        return self._plan("AbandonFloor", step, fields, lambda: self._model.abandon(floor, reason))

    def _edit(self, step: Step) -> Plan:
        floor = self._turn(step)
        aim, fields = self._aim(step, may_omit_session=True)
        input, output = self._input(step), self._messages(step, ASSISTANT) if step.form % 3 else ()
        fields |= self._named(step, floor) | {"input": protos(input), "output": protos(output)}
        return self._plan("EditFloor", step, fields, lambda: self._model.edit(aim, floor, input, output))

    def _regenerate(self, step: Step) -> Plan:
        floor = self._turn(step)
        aim, fields = self._aim(step, may_omit_session=True)
        output = self._messages(step, ASSISTANT) if step.form % 3 else ()
        page = self._candidate(step, floor) if not output or step.form == 13 else None
        fields |= self._named(step, floor) | {
            "output": protos(output),
            "from_page_id": self._same.pages.of(page),
        }
        return self._plan(
            "RegenerateFloor", step, fields, lambda: self._model.regenerate(aim, floor, output, page)
        )

    def _move_head(self, step: Step) -> Plan:
        floor = self._any(step)
        aim, fields = self._aim(step)
        return self._plan(
            "MoveHead", step, fields | self._named(step, floor), lambda: self._model.move_head(aim, floor)
        )

    def _select_sibling(self, step: Step) -> Plan:
        floor = self._elsewhere(step)
        aim, fields = self._aim(step)
        return self._plan(
            "SelectSibling",
            step,
            fields | self._named(step, floor),
            lambda: self._model.select_sibling(aim, floor),
        )

    def _create_branch(self, step: Step) -> Plan:
        floor = self._any(step)
        name = "main" if step.form == 15 else f"{'aB'[self._number % 2]}.{self._number}"
        bad_name = step.fault == "empty"
        fields = self._named(step, floor)
        fields |= {"session_id": self._same.session_id, "name": "-a b" if bad_name else name}
        return self._plan(
            "CreateBranch", step, fields, lambda: self._model.create_branch(name, floor), bad_name
        )

    def _delete_branch(self, step: Step) -> Plan:
        names = [name for name in self._model.branches if name != "main" or step.form == 0]
        name = names[step.pick % len(names)] if names and step.fault == "none" else "gone"
        fields = {"session_id": self._same.session_id, "branch": name}
        if step.fault == "malformed":
            fields["session_id"] = MALFORMED
        return self._plan("DeleteBranch", step, fields, lambda: self._model.delete_branch(name))

    # --- runs ----------------------------------------------------------------------------------

    def _start_run(self, step: Step) -> Plan:
        """One that stops before or after its first words, and waits to be ended."""
        return self._run(step, (Msg(USER, list(HANGS)[step.form % 2]),), ("input", "edit")[step.pick % 2])

    def _respond(self, step: Step) -> Plan:
        return self._run(step, self._input(step), ("input", "edit", "regenerate", "resume")[step.form % 4])

    def _run(self, step: Step, input: Messages, action: str) -> Plan:
        aim, fields = self._aim(step)
        floor = self._resumable(step) if action == "resume" else self._turn(step)
        named = self._named(step, floor)
        messages = {"messages": protos(input)}
        model, state = self._model, State.GENERATING
        content, apply = {
            "input": (messages, lambda: model.open(aim, input, state)),
            "edit": (named | messages, lambda: model.edit(aim, floor, input, (), state)),
            "regenerate": (named, lambda: model.regenerate(aim, floor, state=state)),
            "resume": (named, lambda: model.resume(aim, floor)),
        }[action]
        return self._plan("Respond", step, fields | {action: content}, apply)

    def _resumable(self, step: Step) -> int:
        """The branch's pending floor if its output is still empty, else one that is over."""
        pending = self._model.branches[self.branch(step)].pending
        if pending is not None and self._model.floors[pending].output is None:
            return pending
        over = [f.key for f in self._model.floors.values() if not f.state.pending]
        return over[step.pick % len(over)]

    def _plan(
        self, rpc: str, step: Step, fields: dict[str, Any], apply: Callable[[], Any], bad_name: bool = False
    ) -> Plan:
        malformed = step.fault == "malformed"
        if malformed and MALFORMED not in fields.values():
            fields["session_id"] = MALFORMED
        return Plan(rpc, fields, apply, malformed or bad_name)
