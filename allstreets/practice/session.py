"""A session: hands one after the other, what was missed first, everything kept as it is made."""

import secrets
import time
from collections.abc import Callable

from allstreets.base import InputError
from allstreets.betting import ANY_CARD, Player
from allstreets.cards import parse_combo
from allstreets.practice.dealing import Dealer, node_key
from allstreets.practice.hand import Hand, deal_hand
from allstreets.practice.records import Answer
from allstreets.practice.results import Repeat, Results
from allstreets.practice.summary import Summary, summarise
from allstreets.practice.wanted import Wanted
from allstreets.solutions import Solution

LARGEST_SEED = 2**31


class Session:
    """Hands against a solution; without a seed they are others every time."""

    def __init__(
        self,
        solution: Solution,
        seat: Player | None = None,
        wanted: Wanted | None = None,
        seed: int | None = None,
        results: Results | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.solution, self.seat, self.wanted = solution, seat, wanted or Wanted()
        self.seed = secrets.randbelow(LARGEST_SEED) if seed is None else seed
        self.results = results
        self.answers: list[Answer] = []
        self.hand: Hand | None = None
        self.hands = 0
        self._clock = clock
        self._kept: int | None = None  # the number of the hand in the file
        self.wanted.check(solution)
        self._dealer = Dealer(solution, self.wanted)

    def deal(self) -> Hand:
        """The next hand: a decision that comes back, or a new one."""
        self.hands += 1
        self._kept = None
        self.hand = self._repeated() or deal_hand(self._dealer, self._seat(), self.seed, self.hands)
        return self.hand

    def answer(self, action: int) -> Answer:
        """Take an action in the hand that is played, and keep what it cost."""
        if self.hand is None:
            raise InputError("no hand is dealt")
        answer = self.hand.answer(action)
        self.answers.append(answer)
        if self.results is not None:
            self._kept = self.results.keep(answer, self._clock(), self._kept)
        return answer

    @property
    def played(self) -> int:
        """Hands in which a decision was made."""
        return len({answer.hand for answer in self.answers})

    def summary(self) -> Summary:
        """What the session comes to."""
        return summarise(self.answers)

    def _seat(self) -> Player:
        """The seat, or both in turn."""
        return Player(self.hands % 2) if self.seat is None else self.seat

    def _repeated(self) -> Hand | None:
        """A decision that comes back and is wanted, if there is one."""
        folder = self.solution.folder
        if self.results is None or folder is None:
            return None
        for repeat in self.results.due(folder, self._clock()):
            player = Player[repeat.player.upper()]
            try:
                if not self._wants(repeat, player):
                    continue
                wanted = Wanted(streets=self.wanted.streets, line=repeat.line)
                dealer, held = Dealer(self.solution, wanted), parse_combo(repeat.cards)
                return deal_hand(dealer, player, self.seed, self.hands, held)
            except InputError:  # the solution has changed
                self.results.drop(folder, repeat)
        return None

    def _wants(self, repeat: Repeat, player: Player) -> bool:
        if self.seat not in (None, player) or not self.wanted.fits(repeat):
            return False
        end, node = self._dealer.end, self.solution.at(repeat.line)
        cards = zip(end.cards, node.position.cards, strict=False)
        fits = all(card in (ANY_CARD, dealt) for card, dealt in cards)
        return fits and node_key(end) in [node_key(above.position) for above in node.path]
