"""What a certificate takes, before anything is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allstreets.cards import Flop, FlopSet
from allstreets.engines import open_device
from allstreets.games import (
    DEVICE_ROWS,
    PROGRAM_BYTES,
    estimate_exact,
    estimate_unified,
    hands_of_flops,
)
from allstreets.solvers.certify.evaluator import Judge

SETUP_SECONDS_PER_BOARD = 0.0007  # of one flop, for all of its pots; one thread only
SECONDS_PER_BOARD = 0.00003  # of one pot
SECONDS_PER_SLOT = 3e-9  # one core, both players' best responses, one action of one hand
WORKER_SECONDS = 4.0  # of work that are worth the start of another process
SHARED = 0.2  # of what is stored where every hand has its own row: hands of a row share theirs


@dataclass(frozen=True)
class CertificateEstimate:
    """The size of a job."""

    known: int  # flops that are judged already
    seconds: float  # for the others, a guess
    memory_bytes: int  # the program itself included
    at_once: int = 1  # flops that are judged side by side, each by a process


def estimate_certificate(
    judge: Judge, flops: Sequence[Flop], known: int, free: int | None = None
) -> CertificateEstimate:
    """What it takes to judge these flops; `known` were judged before.

    With `free` memory several are judged side by side, as many as fit into half of it.
    """
    game, seconds, memory, stored_there = judge.result.game, 0.0, 0, 0
    unknown = [flop for flop in flops if flop.number not in judge.stored]
    model = judge.completion.model
    there = bool(unknown) and not model.stores_all_streets  # solved where they are judged
    for like, hands in hands_of_flops(flops):
        boards = sum(len(street[0]) for street in hands)
        setup, passes, largest = boards * SETUP_SECONDS_PER_BOARD, 0.0, 0
        for size in game.tree_sizes:
            need = estimate_exact(size, hands, model.precision if there else "float32")
            passes += need.slots * SECONDS_PER_SLOT + boards * SECONDS_PER_BOARD
            tables = need.process_bytes - need.memory_bytes - PROGRAM_BYTES
            stored = need.memory_bytes if there else int(SHARED * need.memory_bytes / 2)
            largest = max(largest, tables + stored)
            stored_there = max(stored_there, stored)
        seconds += like * (setup + passes)
        memory = max(memory, largest)
    if unknown:
        some = FlopSet("some", tuple(unknown), np.ones(len(unknown)))
        solving = estimate_unified(replace(game, flops=some), model)
        seconds += solving.seconds_to(judge.completion.iterations)
        if not there:
            memory = max(memory, (solving.resident_bytes - PROGRAM_BYTES) // len(unknown))
    one = memory + PROGRAM_BYTES
    fit = 1 if free is None else max(1, free // 2 // one)
    device = open_device(judge.device)
    if device is not None and there:
        fit = max(1, min(fit, device.free_bytes // (2 * (stored_there + DEVICE_ROWS))))
    worth = 1 + int(seconds / WORKER_SECONDS)
    at_once = max(1, min(judge.threads, len(flops), fit, worth))
    return CertificateEstimate(known, seconds / judge.threads, one * at_once, at_once)
