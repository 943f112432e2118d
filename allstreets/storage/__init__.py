"""What is kept: checkpoints that are whole or absent, and one writer a folder."""

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
    "require_checkpoints",
    "require_no_checkpoints",
    "save_checkpoint",
]
