"""What is kept: checkpoints and solutions, whole or absent, and one writer a folder."""

from allstreets.storage.bundle import load_spot, save_spot
from allstreets.storage.checkpoints import (
    Checkpoint,
    CheckpointWarning,
    clear_unfinished,
    latest_checkpoint,
    require_checkpoints,
    require_no_checkpoints,
    restore_latest,
    save_checkpoint,
)
from allstreets.storage.claim import claim
from allstreets.storage.flop_bundle import load_postflop
from allstreets.storage.opening import load
from allstreets.storage.preflop_bundle import load_preflop, save_preflop
from allstreets.storage.unified_bundle import load_unified, save_unified

__all__ = [
    "Checkpoint",
    "CheckpointWarning",
    "claim",
    "clear_unfinished",
    "latest_checkpoint",
    "load",
    "load_postflop",
    "load_preflop",
    "load_spot",
    "load_unified",
    "require_checkpoints",
    "require_no_checkpoints",
    "restore_latest",
    "save_checkpoint",
    "save_preflop",
    "save_spot",
    "save_unified",
]
