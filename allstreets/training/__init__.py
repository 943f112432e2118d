"""Running a job: config, the loop, stop rules, progress, checkpoints, report, plot."""

from allstreets.training.config import check_config, config_schema, read_config
from allstreets.training.config_model import (
    ConfigModel,
    ConfigWarning,
    OldName,
    RangeText,
    WrongKeyError,
)
from allstreets.training.loop import Every, Intervals, Observer, RunFiles, train
from allstreets.training.loop_config import LoopConfig
from allstreets.training.plot import check_plot_path, plot_convergence
from allstreets.training.postflop_config import PostflopModelConfig
from allstreets.training.progress import (
    ProgressView,
    line_progress,
    live_progress,
    show_progress,
)
from allstreets.training.records import Check, Progress, Reason, TrainingOutcome
from allstreets.training.report import (
    ReportRow,
    ending,
    outcome_lines,
    report_dict,
    report_lines,
    report_rows,
)
from allstreets.training.solver import BatchCallback, TrainingSolver
from allstreets.training.spot_config import SpotConfig, parse_target, parse_time, read_spot
from allstreets.training.stopping import (
    ExploitabilityThreshold,
    Iterations,
    RegretThreshold,
    StopRule,
    TimeLimit,
)
from allstreets.training.train_config import TrainConfig, read_train_config

__all__ = [
    "BatchCallback",
    "Check",
    "ConfigModel",
    "ConfigWarning",
    "Every",
    "ExploitabilityThreshold",
    "Intervals",
    "Iterations",
    "LoopConfig",
    "Observer",
    "OldName",
    "PostflopModelConfig",
    "Progress",
    "ProgressView",
    "RangeText",
    "Reason",
    "RegretThreshold",
    "ReportRow",
    "RunFiles",
    "SpotConfig",
    "StopRule",
    "TimeLimit",
    "TrainConfig",
    "TrainingOutcome",
    "TrainingSolver",
    "WrongKeyError",
    "check_config",
    "check_plot_path",
    "config_schema",
    "ending",
    "line_progress",
    "live_progress",
    "outcome_lines",
    "parse_target",
    "parse_time",
    "plot_convergence",
    "read_config",
    "read_spot",
    "read_train_config",
    "report_dict",
    "report_lines",
    "report_rows",
    "show_progress",
    "train",
]
