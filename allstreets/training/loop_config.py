"""What ends a run and what is saved on the way, and the config of a run that has nothing else."""

from pydantic import Field, field_validator, model_validator

from allstreets.training.config_model import WrongKeyError
from allstreets.training.config_values import GameUnit
from allstreets.training.loop import Intervals
from allstreets.training.shared_config import CHECK_INTERVAL, ChecksConfig, Interval
from allstreets.training.stopping import (
    ExploitabilityThreshold,
    Iterations,
    RegretThreshold,
    StopRule,
    TimeLimit,
)


class StopConfig(ChecksConfig):
    """What ends a run besides its iterations, and how often it saves."""

    exploitability_threshold: GameUnit | None = Field(default=None, examples=[0.001])
    """End when the exploitability is at most this, in the game's own unit."""

    stable_epochs: int = Field(default=1, ge=1, le=100, examples=[2])
    """... at so many checks in a row."""

    time_limit_seconds: float | None = Field(default=None, gt=0, examples=[3600])
    """End after so many seconds of this process."""

    checkpoint_interval: Interval | None = Field(default=None, examples=[100])
    """Iterations between two checkpoints; without it one about every five minutes."""

    def stop_rules(self, iterations: int | None = None, spent: float = 0.0) -> tuple[StopRule, ...]:
        """What ends the run, one rule for each key that is given.

        `spent` seconds of the time limit are over.
        """
        rules: list[StopRule] = []
        if iterations is not None:
            rules.append(Iterations(iterations))
        if self.exploitability_threshold is not None:
            rules.append(ExploitabilityThreshold(self.exploitability_threshold, self.stable_epochs))
        if self.regret_threshold is not None:
            rules.append(RegretThreshold(self.regret_threshold))
        if self.time_limit_seconds is not None:
            rules.append(TimeLimit(self.time_limit_seconds, spent))
        return tuple(rules)


class LoopConfig(StopConfig):
    """How long to train: at least one of the four ends must be given; the first to hold ends it."""

    iterations: int | None = Field(default=None, examples=[1000])
    """Iterations in all, those before a resume included."""

    check_interval: Interval = Field(default=100, examples=[100], description=CHECK_INTERVAL)

    checkpoint_interval: Interval = Field(default=1000, examples=[1000])
    """Iterations between two checkpoints: what a crash can cost."""

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
        return Intervals(self.check_interval, self.checkpoint_interval)

    def stop_rules(self, iterations: int | None = None, spent: float = 0.0) -> tuple[StopRule, ...]:
        """What ends the run, one rule for each key that is given.

        `spent` seconds of the time limit are over.
        """
        return super().stop_rules(iterations or self.iterations, spent)
