"""The solution in a folder, to play hands on."""

from pathlib import Path

from allstreets.base import InputError
from allstreets.betting import NodeKind
from allstreets.practice.playable import Playable
from allstreets.practice.playable_spot import PlayableSpot
from allstreets.practice.playable_whole import PlayableWhole
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage import SpotSet, load, read_manifest

MODELS = (
    "{folder} holds flops solved one by one, with ranges that nobody plays: practise with a spot "
    "(allstreets solve) or a whole game (allstreets train)"
)


def open_playable(folder: Path) -> Playable:
    """A solved spot or whole game; an `InputError` for what cannot be played."""
    folder = folder.resolve()
    result = load(folder)
    found: Playable | None = None
    if isinstance(result, SpotSolution):
        name = read_manifest(folder, "spot").get("name")
        found = PlayableSpot(result, str(name or folder.name), folder)
    elif isinstance(result, WholeSolution):
        found = PlayableWhole(result, result.facts.name or folder.name, folder)
    elif isinstance(result, SpotSet):
        one = next((entry.folder for entry in result.entries), "…")
        raise InputError(
            f"{folder} holds spots that were solved together: practise with one of them, "
            f"{folder / one}"
        )
    if found is None:
        raise InputError(MODELS.format(folder=folder))
    if found.tree(found.root).kind[0] not in (NodeKind.DECISION, NodeKind.CHANCE):
        raise InputError(f"nothing is decided in {folder}: both players are all-in")
    return found
