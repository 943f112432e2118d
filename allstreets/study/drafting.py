"""Every flop of a whole game with real cards, to practise on: what is missing is drafted.

The draft is kept beside the game, as `allstreets solve --from --draft` keeps it: it is there the
next time, and in the explorer. Its turns and rivers are solved when play gets there.
"""

from collections.abc import Callable
from pathlib import Path

from allstreets.base import InputError
from allstreets.cards import canonical_flop, cards_text
from allstreets.jobs import Callbacks, SpotJob, plan_flop
from allstreets.solutions import ExactFlop, ExactFlops, WholeSolution


class DraftedFlops:
    """The flops of a game with real cards, each drafted when it is asked for the first time.

    `announce` hears of a flop that is about to be drafted.
    """

    every = True

    def __init__(
        self,
        folder: Path,
        solution: WholeSolution,
        announce: Callable[[str], None] | None = None,
        threads: int | None = None,
    ) -> None:
        assert solution.exact_flops is not None
        self._folder, self._solution = folder, solution
        self._kept: ExactFlops = solution.exact_flops  # those beside the game
        self._announce, self._threads = announce, threads

    def refresh(self) -> None:
        """Look again for what was solved meanwhile."""
        self._kept.refresh()

    def find(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        """The flop, drafted if need be; None: the game plays it, or no range gets there."""
        known, solution = self._kept.find(root, flop), self._solution
        stored = solution.has_flops and solution.cards.stores_cards
        if known is not None or (
            stored and solution.stored.place_of(canonical_flop(flop).flop) is not None
        ):
            return known
        line, text = solution.roots.text(root), cards_text(flop)
        try:
            job = plan_flop(self._folder, line, text, {}, draft=True, threads=self._threads)
        except InputError:  # no range gets there
            return None
        if isinstance(job, SpotJob):
            if self._announce is not None:
                self._announce(text)
            outcome = job.run(Callbacks())
            if outcome.interrupted:
                raise KeyboardInterrupt
        self._kept.refresh()
        return self._kept.find(root, flop)
