"""A training file: its sections determine the job and contain its keys.

solver: {type: unified_cfr, …}                  preflop through river as one game
postflop_model: {…}                             flops solved one by one
solver: {type: preflop_cfr, …}                  preflop, on top of the flops of postflop_model,
postflop_model: {…}                             which are solved first, or of solver.models
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from allstreets.base import InputError
from allstreets.jobs.config.flops import PostflopModelConfig
from allstreets.jobs.config.model import ConfigModel, WrongKeyError
from allstreets.jobs.config.reading import read_config, read_config_text
from allstreets.jobs.config.whole_game import PreflopConfig, UnifiedConfig

"""The jobs that a file may request."""


class TrainConfig(ConfigModel):
    """A training file."""

    other_files = dict.fromkeys(
        ("oop_range", "ip_range", "board", "boards"),
        "describes a spot, not a whole game; solve it with: allstreets solve",
    )

    name: str | None = Field(default=None, examples=["single_raised_pots"])
    """The name of the run in reports."""

    description: str | None = None
    """For people; not used."""

    solver: UnifiedConfig | PreflopConfig | None = Field(default=None, discriminator="type")
    """The whole game; `type` says whether it is solved as one or in two steps."""

    postflop_model: PostflopModelConfig | None = None
    """Flops solved one by one with full ranges."""

    @model_validator(mode="after")
    def _one_job(self) -> "TrainConfig":
        sections = {"solver": self.solver, "postflop_model": self.postflop_model}
        for name, section in sections.items():
            if section is None and name in self.model_fields_set:
                raise WrongKeyError(name, "is empty; give it some keys or leave it out")
        if self.solver is None and self.postflop_model is None:
            raise WrongKeyError(
                "solver", "there is no job in this file; add the section solver or postflop_model"
            )
        if isinstance(self.solver, UnifiedConfig) and self.postflop_model is not None:
            raise WrongKeyError(
                "postflop_model", "has no effect in a unified solve; leave it out, or the solver"
            )
        if isinstance(self.solver, PreflopConfig):
            given = [self.solver.models, self.postflop_model]
            if sum(source is not None for source in given) != 1:
                raise WrongKeyError(
                    "solver", "preflop_cfr needs postflop_model or models, one of the two"
                )
        return self

    @property
    def job(self) -> str:
        """The job that the file requests."""
        return self.solver.type if self.solver is not None else "postflop_model"


GAME_FLAGS = {"stack_depth": "stack", "flops": "flops"}
"""Flags that change a whole game, by the keys that they override."""

FIRST_RUN = Path(__file__).with_name("first_run.yaml")
"""The run that is solved when no file is named: small enough to watch."""


def read_train_config(path: Path, flags: Mapping[str, Any] | None = None) -> TrainConfig:
    """Read and check a training file; all problems come in one `InputError`.

    `flags` (threads, device, cluster, chart_interval, stack_depth, flops) override its keys.
    """
    return read_config(path, TrainConfig, lambda data: _override(data, flags or {}))


def _override(data: dict[str, Any], flags: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Put flags into the sections that have their keys; a preflop game has few."""
    solver, models = data.get("solver"), data.get("postflop_model")
    places = []
    for key, value in flags.items():
        if value is None:
            continue
        takes = solver if key == "chart_interval" or _is_unified(solver) else None
        if key == "chart_interval" and solver is None:
            raise InputError("--chart-interval: flops one by one have no preflop charts")
        if key in GAME_FLAGS and takes is None:
            raise InputError(
                f"--{GAME_FLAGS[key]} is for whole games, solver: {{type: unified_cfr}}"
            )
        if key == "cluster" and takes is None and models is None:
            raise InputError("--cluster: whole games and flops one by one run on a cluster")
        models_too = key != "chart_interval" and key not in GAME_FLAGS
        sections = {"solver": takes, "postflop_model": models if models_too else None}
        for name, section in sections.items():
            if isinstance(section, dict):
                section[key] = value
                places.append((name, key))
    return places


def _is_unified(solver: Any) -> bool:
    return isinstance(solver, dict) and solver.get("type") == "unified_cfr"


def parse_train_config(
    text: str, source: str, flags: Mapping[str, Any] | None = None
) -> TrainConfig:
    """Parse a file that is not on disk like `read_train_config`; `source` names it in messages."""
    return read_config_text(text, TrainConfig, source, lambda data: _override(data, flags or {}))
