"""The section of a config that says how long to train and what to keep on the way."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, field_validator, model_validator

from allstreets.training.config_model import ConfigModel, OldName, WrongKeyError
from allstreets.training.loop import Intervals
from allstreets.training.stopping import (
    ExploitabilityThreshold,
    Iterations,
    RegretThreshold,
    StopRule,
    TimeLimit,
)

Threshold = Annotated[float, Field(gt=0)]


class LoopConfig(ConfigModel):
    """How long to train: at least one of the four ends must be given; the first to hold ends it."""

    old_names: ClassVar[Mapping[str, OldName]] = {
        "convergence_threshold": OldName("regret_threshold")
    }

    iterations: int | None = Field(default=None, examples=[1000])
    """Iterations in all, those before a resume included."""

    regret_threshold: Threshold | None = Field(default=None, examples=[0.001])
    """End when the average positive regret is at most this. A trend, not a bound."""

    exploitability_threshold: Threshold | None = Field(default=None, examples=[0.001])
    """End when the exploitability is at most this, in the solver's unit."""

    time_limit_seconds: Threshold | None = Field(default=None, examples=[3600])
    """End after so many seconds of this process."""

    convergence_check_interval: int = Field(default=100, ge=1, examples=[100])
    """Iterations between two checks of metrics and stop rules."""

    checkpoint_interval: int = Field(default=1000, ge=1, examples=[1000])
    """Iterations between two checkpoints: what a crash can cost."""

    seed: int = Field(default=1, ge=0, le=2**63 - 1, examples=[1])
    """Seed of everything random."""

    @field_validator("iterations")
    @classmethod
    def _some_iterations(cls, value: int | None) -> int | None:
        if value is not None and value < 1:
            raise ValueError(
                f"must be 1 or more, not {value}; to run until a threshold holds, leave it out"
            )
        return value

    @model_validator(mode="after")
    def _some_end(self) -> "LoopConfig":
        if not self.stop_rules():
            raise WrongKeyError(
                "iterations",
                "nothing would end this run; give iterations, exploitability_threshold, "
                "regret_threshold or time_limit_seconds",
            )
        return self

    def intervals(self) -> Intervals:
        """How often the loop checks, and how often it saves."""
        return Intervals(self.convergence_check_interval, self.checkpoint_interval)

    def stop_rules(self) -> tuple[StopRule, ...]:
        """The rules that end the run, one for each key that is given."""
        rules: list[StopRule] = []
        if self.exploitability_threshold is not None:
            rules.append(ExploitabilityThreshold(self.exploitability_threshold))
        if self.regret_threshold is not None:
            rules.append(RegretThreshold(self.regret_threshold))
        if self.iterations is not None:
            rules.append(Iterations(self.iterations))
        if self.time_limit_seconds is not None:
            rules.append(TimeLimit(self.time_limit_seconds))
        return tuple(rules)
