"""Solutions of a library side by side: those that can be compared, and a place in two of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock

from allstreets.analysis import Comparison, HandDifference, compare_decisions
from allstreets.base import InputError
from allstreets.cards import HAND_NAMES
from allstreets.explorer.headlines import MBB
from allstreets.explorer.library import Library
from allstreets.explorer.models import place as messages
from allstreets.explorer.models.base import EvCount, MissingError
from allstreets.explorer.models.params import Evs, Line, SolutionId
from allstreets.explorer.models.solution import SolutionCard
from allstreets.solutions import Decision
from allstreets.storage import GameKeys, stored_keys

GAMES = ("preflop", "unified")
FAMILIES = {"spot": ("spot",), "preflop": GAMES, "unified": GAMES}
"""The kinds of solutions that can be compared with a kind."""

SHORT = 16  # letters of a value that is shown
MOST_PROBLEMS = 30  # solutions of other games that are listed


class Comparing:
    """Any number of threads may use it."""

    def __init__(self, library: Library) -> None:
        self._library, self._lock = library, Lock()
        self._known: dict[str, tuple[str, GameKeys]] = {}  # by id, as they were written

    def choices(self, solution: SolutionId) -> messages.ComparisonChoices:
        """The solutions that this one can be compared with."""
        own, before = self._library.card(solution), self._library.before(solution)
        cards = {card.id: card for card in (*self._library.cards(), *self._ready_made(own))}
        listed = [
            self._choice(own, card, before)
            for card in cards.values()
            if card.id != solution and card.kind in FAMILIES.get(own.kind or "", ())
        ]
        problems = [choice for choice in listed if choice.problem is not None]
        same = [choice for choice in listed if choice.problem is None]
        return messages.ComparisonChoices(
            choices=[
                *sorted(same, key=lambda choice: not choice.before),
                *problems[:MOST_PROBLEMS],
            ],
            more=len(problems[MOST_PROBLEMS:]),
        )

    def compare(
        self, solution: SolutionId, other: SolutionId, line: Line = "", evs: Evs = "here"
    ) -> messages.Comparison:
        """A place of this solution beside the same place of another."""
        decision, comparison = self._places(solution, other, line, evs)
        noise = sum(map(self._noise, (solution, other)))
        return _message(comparison, decision, self._library.card(other), line, noise)

    def _noise(self, id: str) -> float:
        """The distance of a solution's EVs from those of an equilibrium, at most, in its unit.

        With best-response gains b₀ and b₁ an EV lies within max(b₀, b₁) ≤ 2 · exploitability.
        """
        card = self._library.card(id)
        off = 2 * (card.exploitability or 0.0)
        if card.unit == MBB:
            return off / 1000
        return off / 100 * self._library.view(id).record("").pot

    def table(self, id: str, other: str, line: str, evs: EvCount = "here") -> Comparison:
        """The same as a record."""
        return self._places(id, other, line, evs)[1]

    def _places(self, id: str, other: str, line: str, evs: EvCount) -> tuple[Decision, Comparison]:
        """The place in the other solution, and both: the other one first."""
        own, card = self._library.card(id), self._library.card(other)
        if id == other:
            raise InputError("a solution cannot be compared with itself: choose another one")
        notes = self._keys(card).notes(self._keys(own))
        our_decision = self._library.view(id).record(line, evs)
        try:
            their_decision = self._library.view(other).record(line, evs)
            return their_decision, compare_decisions(their_decision, our_decision, notes)
        except InputError as error:  # a flop that it does not have, cards that it does not know
            raise MissingError(f"'{card.name}' does not have this place: {error}") from None

    def _choice(
        self, own: SolutionCard, card: SolutionCard, before: str | None
    ) -> messages.ComparisonChoice:
        ready_made = card.id in self._library.ready_made.by_id
        choice = messages.ComparisonChoice(card=card, ready_made=ready_made)
        try:
            other_keys, own_keys = self._keys(card), self._keys(own)
            apart = other_keys.apart(own_keys)
            notes = () if apart else other_keys.notes(own_keys)
        except InputError as error:
            return choice.model_copy(update={"problem": str(error)})
        if apart:
            return choice.model_copy(update={"problem": _reason(apart)})
        known = {"notes": list(notes), "before": card.id == before}
        return choice.model_copy(update=known)

    def _ready_made(self, own: SolutionCard) -> Iterator[SolutionCard]:
        """The games of the library with this stack: the others are not even unpacked."""
        if own.kind not in GAMES:
            return
        try:
            keys = self._keys(own).keys or {}
        except InputError:
            return  # which is said of every other solution
        for id, packed in self._library.ready_made.by_id.items():
            if packed.facts["game"]["preflop"]["stack"] == keys.get("stack"):
                yield self._library.card(id)

    def _keys(self, card: SolutionCard) -> GameKeys:
        """The game of a solution, read once for as long as its manifest stays the same."""
        known = self._known.get(card.id)
        if known is None or known[0] != card.written:
            if card.kind is None:
                raise InputError(card.problem or card.title)
            known = card.written, _read(self._library.folder(card.id))
            with self._lock:
                self._known[card.id] = known
        return known[1]


def _read(folder: Path) -> GameKeys:
    try:
        return stored_keys(folder)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"the manifest is not as it was written: {error!r}") from None


def _reason(apart: Mapping[str, tuple[str, str]]) -> str:
    """The differences that make it another game, in one line; short values are shown."""
    reasons = []
    for key, (theirs, ours) in apart.items():
        if key.endswith("_range") and "board" in apart:
            continue  # the cards it leaves depend on the board
        short = max(len(theirs), len(ours)) <= SHORT
        reasons.append(key.replace("_", " ") + (f" {theirs}, not {ours}" if short else ""))
    return f"another game: {'; '.join(reasons)}"


def _message(
    comparison: Comparison, decision: Decision, other: SolutionCard, line: str, noise: float
) -> messages.Comparison:
    rows = zip(
        comparison.actions,
        comparison.labels,
        zip(*comparison.frequencies, strict=True),
        (decision.cells(row) for row in decision.strategy),
        strict=True,
    )
    actions = [
        messages.ActionBeside.of(word=word, label=label, frequency=pair, chances=cells)
        for word, label, pair, cells in rows
    ]
    return messages.Comparison.of(
        comparison,
        other=other,
        line=line,
        unit=comparison.unit.name,
        text=comparison.gain_text(noise),
        reached=comparison.reached[0],
        actions=actions,
        cells=comparison.cells() if comparison.hands else [],
        hands=[_hand(hand) for hand in comparison.hands],
    )


def _hand(hand: HandDifference) -> messages.HandBeside:
    theirs, ours = hand.frequencies
    distance = hand.distance if hand.in_both else None
    name = HAND_NAMES[hand.hand]
    return messages.HandBeside.of(hand, hand=name, there=theirs, here=ours, distance=distance)
