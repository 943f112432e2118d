"""An exact subgame where it is to live: on the processors of this machine, or on a GPU."""

from allstreets.base import Floats, InputError, Longs
from allstreets.betting import BettingTree
from allstreets.cards import Runouts
from allstreets.engines.cuda.exact import CudaSubgame
from allstreets.engines.device import Device
from allstreets.engines.exact.buckets import MakeBuckets, StreetBuckets
from allstreets.engines.exact.subgame import ExactSubgame


def exact_subgame(
    tree: BettingTree,
    payoffs: Floats,
    root: Runouts,
    combos: tuple[Longs, Longs],
    threads: int = 1,
    precision: str = "float32",
    like: ExactSubgame | None = None,
    buckets: StreetBuckets | MakeBuckets | None = None,
    learns: bool = True,
    device: Device | None = None,
) -> ExactSubgame:
    """As `ExactSubgame` describes it; one that learns, on the device if there is one."""
    if device is None or not learns:
        return ExactSubgame(tree, payoffs, root, combos, threads, precision, like, buckets, learns)
    require_free(tree, device)
    return CudaSubgame(tree, payoffs, root, combos, device, threads, precision, like, buckets)


def require_free(tree: BettingTree, device: Device | None) -> None:
    """Refuse a tree with locked decisions where they would be played freely."""
    if device is not None and tree.is_locked:
        raise InputError(
            "lock: on a GPU decisions after the flop are free: leave out device, or lock those "
            "before it alone"
        )
