"""The keys that say which flops a game has.

Flops may be chosen by a solution, so this file needs all that whole games need: it stands apart
from the keys that spots have as well, which start faster without it.
"""

from pathlib import Path

from pydantic import Field, field_validator, model_validator

from allstreets.cards import FlopSet, fitted_count, parse_flop_set
from allstreets.training.config_model import ConfigModel, WrongKeyError
from allstreets.training.fitted_flops import fitted_flops


class FlopsConfig(ConfigModel):
    """Which flops may come."""

    flops: int | str | tuple[str, ...] = Field(default="all", examples=["all"])
    """all; subset_95 (15, 25, 49, 95 or 184 flops with weights, chosen to stand for all 1,755);
    fitted_95 (chosen for this game, see fitted_from); spread_25 or 25 (middles of equal parts);
    or a list of flops."""

    fitted_from: str | None = Field(default=None, examples=["runs/all_flops"])
    """With flops fitted_N: a folder with a solution of this game, or one like it, on all flops."""

    @field_validator("flops")
    @classmethod
    def _flops_can_be_read(cls, value: int | str | tuple[str, ...]) -> int | str | tuple[str, ...]:
        if fitted_count(value) is None:
            parse_flop_set(f"spread_{value}" if isinstance(value, int) else value)
        return value

    @model_validator(mode="after")
    def _fitted_to_something(self) -> "FlopsConfig":
        fitted = fitted_count(self.flops)
        if fitted and self.fitted_from is None:
            raise WrongKeyError(
                "flops",
                f"{self.flops} is chosen by a solution on all flops: name its folder with "
                "fitted_from, or write subset_95",
            )
        if self.fitted_from is not None and not fitted:
            raise WrongKeyError("fitted_from", "is for flops fitted_95, say; leave it out")
        return self

    def flop_set(self) -> FlopSet:
        """The flops that may come, with what they weigh."""
        if count := fitted_count(self.flops):
            return fitted_flops(count, Path(self.fitted_from or ""))
        return parse_flop_set(self.flops)
