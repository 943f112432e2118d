"""What a certificate takes, before anything is judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from allstreets.cards import Flop
from allstreets.solvers.game.estimate import hands_of_flops
from allstreets.solvers.game.game import UnifiedGame
from allstreets.solvers.spot.estimate import PROGRAM_BYTES, estimate_exact

SETUP_SECONDS_PER_BOARD = 0.0012  # of one flop, for all of its pots; one thread only
SECONDS_PER_BOARD = 0.0002  # of one pot
SECONDS_PER_SLOT = 5e-9  # one core, both players' best responses, one action of one hand


@dataclass(frozen=True)
class CertificateEstimate:
    """The size of a job."""

    known: int  # flops that are judged already
    seconds: float  # for the others, a guess
    memory_bytes: int  # the program itself included


def estimate_certificate(
    game: UnifiedGame, flops: Sequence[Flop], known: int, threads: int
) -> CertificateEstimate:
    """What it takes to judge so many flops more; `known` were judged before."""
    seconds, memory = 0.0, 0
    for like, hands in hands_of_flops(flops):
        boards = sum(len(street[0]) for street in hands)
        setup, passes, largest = boards * SETUP_SECONDS_PER_BOARD, 0.0, 0
        for size in game.tree_sizes:
            need = estimate_exact(size, hands)
            passes += need.slots * SECONDS_PER_SLOT + boards * SECONDS_PER_BOARD
            largest = max(largest, need.process_bytes - PROGRAM_BYTES)
        seconds += like * (setup + passes / threads)
        memory = max(memory, largest)
    return CertificateEstimate(known, seconds, memory + PROGRAM_BYTES)
