"""What stands before the path: the system prompt over the visible variables, and what is remembered."""

from collections.abc import Mapping
from dataclasses import dataclass

from kernel.errors import Exhausted, FailedPrecondition
from kernel.prompt.config import Config
from kernel.prompt.memory import NO_MEMORY, MemoryBlock, memory_block, memory_limit
from kernel.prompt.memory_policy import refused
from kernel.prompt.template import BadTemplate, Rendered, TooLong, parse, render
from kernel.state.model import VisibleState
from kernel.tree.model import PageContent, Role
from kernel.verbs.env import Codec


@dataclass(frozen=True, slots=True)
class Head:
    """As they were rendered; `missing` are the names in the template that no visible variable has."""

    system: PageContent | None = None
    memory: MemoryBlock = NO_MEMORY
    missing: tuple[str, ...] = ()


NO_HEAD = Head()


def head_of(codec: Codec, config: Config, visible: VisibleState, recency: Mapping[str, int]) -> Head:
    """Of an effective configuration, and what is visible at the end of a path whose floors have those
    depths. RESOURCE_EXHAUSTED `LIMIT` for a system prompt that would exceed 1 MiB."""
    rendered = _rendered(config.system_prompt or "", visible)
    system = codec.text(Role.SYSTEM, rendered.text) if rendered.text else None
    limit = memory_limit(config.budget, system.tokens if system else 0)

    def write(text: str) -> PageContent:
        return codec.text(Role.SYSTEM, text)

    items = visible.memory
    memory = memory_block(items, recency, limit, write, refused(config.memory_policy, items))
    return Head(system, memory, rendered.missing)


def _rendered(template: str, visible: VisibleState) -> Rendered:
    try:
        return render(parse(template), visible.values)
    except BadTemplate as error:
        # Written before system prompts were templates.
        why = f"The configuration's system_prompt {error}: change it (\\{{{{ stands for the braces)."
        raise FailedPrecondition("INVALID", why) from None
    except TooLong:
        why = "The system prompt with its variables would exceed 1 MiB: shorten them."
        raise Exhausted("LIMIT", why) from None
