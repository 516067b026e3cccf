"""How a session talks. None means that this layer says nothing. Pure."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class _Layer:
    def over(self, below: Self) -> Self:
        """This layer's values where it has them, else those below; lists replace whole."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        kept = {f.name: getattr(below, f.name) for f in fields(below)}
        return type(self)(
            **{name: kept[name] if value in (None, ()) else value for name, value in values.items()}
        )


@dataclass(frozen=True, slots=True)
class ModelConfig(_Layer):
    provider: str | None = None
    name: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class BudgetConfig(_Layer):
    """`max_input_tokens` is the whole window; `reserved_output_tokens` of it stay free."""

    max_input_tokens: int | None = None
    reserved_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Config:
    system_prompt: str | None = None
    model: ModelConfig = ModelConfig()
    budget: BudgetConfig = BudgetConfig()

    def over(self, below: "Config") -> "Config":
        """The effective configuration of this layer over the one below, field by field."""
        return Config(
            below.system_prompt if self.system_prompt is None else self.system_prompt,
            self.model.over(below.model),
            self.budget.over(below.budget),
        )
