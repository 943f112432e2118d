"""What is kept: checkpoints and solved spots, whole or absent, and one writer a folder."""

from allstreets.storage.bundle import load_spot, save_spot
from allstreets.storage.checkpoints import (
    Checkpoint,
    CheckpointWarning,
    latest_checkpoint,
    require_checkpoints,
    require_no_checkpoints,
    save_checkpoint,
)
from allstreets.storage.claim import claim

__all__ = [
    "Checkpoint",
    "CheckpointWarning",
    "claim",
    "latest_checkpoint",
    "load_spot",
    "require_checkpoints",
    "require_no_checkpoints",
    "save_checkpoint",
    "save_spot",
]
