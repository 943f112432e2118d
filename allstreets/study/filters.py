"""Filters of the decisions to practise: streets, kinds of pot, a line, textures of flops."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from allstreets.base import InputError, suggest
from allstreets.betting import POT_KINDS, Player, Street
from allstreets.cards import PAIRING_NAMES, RANKS, SUITS_NAMES, Texture, parse_board, texture
from allstreets.solutions import Solution
from allstreets.study.games import seen_pots
from allstreets.study.grading import STREETS, Answer
from allstreets.study.results import Repeat

Meaning = TypeVar("Meaning")

SEATS = {"bb": Player.OOP, "oop": Player.OOP, "sb": Player.IP, "ip": Player.IP}
POTS = {**{kind: kind for kind in POT_KINDS}, "single-raised": "raised", "srp": "raised"}
SUITS = tuple(SUITS_NAMES.values())
PAIRINGS = tuple(PAIRING_NAMES.values())


@dataclass(frozen=True)
class Wanted:
    """The decisions to practise; an empty set admits everything."""

    streets: frozenset[Street] = frozenset()
    pots: frozenset[str] = frozenset()  # of `POT_KINDS`
    line: str = ""  # decisions at its end and after it
    suits: frozenset[str] = frozenset()  # rainbow, two-tone, monotone
    pairings: frozenset[str] = frozenset()  # unpaired, paired, trips
    high_cards: frozenset[str] = frozenset()  # A, K, …

    @classmethod
    def parse(
        cls,
        streets: Sequence[str] = (),
        pots: Sequence[str] = (),
        line: str = "",
        suits: Sequence[str] = (),
        pairings: Sequence[str] = (),
        high_cards: Sequence[str] = (),
    ) -> "Wanted":
        """Out of the words of people, each of which may name several, with commas."""
        ranks = {rank: rank for rank in RANKS}
        return cls(
            frozenset(_read("street", streets, STREETS)),
            frozenset(_read("pot", pots, POTS)),
            line.strip(),
            frozenset(_read("suits of a flop", suits, {name: name for name in SUITS})),
            frozenset(_read("pairing of a flop", pairings, {name: name for name in PAIRINGS})),
            frozenset(_read("high card", [card.upper() for card in high_cards], ranks)),
        )

    def texture(self, flop: Texture) -> bool:
        """Whether a flop is wanted."""
        return (
            (not self.suits or flop.suits in self.suits)
            and (not self.pairings or flop.pairing in self.pairings)
            and (not self.high_cards or flop.high_card in self.high_cards)
        )

    @property
    def names_flops(self) -> bool:
        """Whether some flops only are wanted."""
        return bool(self.suits or self.pairings or self.high_cards)

    @property
    def sees_flop(self) -> bool:
        """Whether only decisions after the flop are asked."""
        later = bool(self.streets) and Street.PREFLOP not in self.streets
        return later or bool(self.pots) or self.names_flops

    def asks(self, street: Street) -> bool:
        """Whether decisions of a street are asked."""
        if self.sees_flop and street == Street.PREFLOP:
            return False
        return not self.streets or street in self.streets

    def fits(self, decision: Answer | Repeat) -> bool:
        """Whether a decision that was made is one of those that are asked."""
        if not self.asks(STREETS[decision.street]):
            return False
        if self.pots and decision.pot_kind not in self.pots:
            return False
        return not self.names_flops or self.texture(texture(parse_board(decision.board)[:3]))

    @property
    def last(self) -> Street:
        """The last street that is asked."""
        return max(self.streets, default=Street.RIVER)

    def check(self, solution: Solution) -> None:
        """Refuse what a solution cannot give."""
        kinds = set(seen_pots(solution).values())
        missing = [street.text for street in sorted(self.streets - set(solution.streets))]
        if missing:
            known = ", ".join(street.text for street in solution.streets)
            raise InputError(
                f"{solution.name} stores no decisions on the {missing[0]}: choose from {known}"
            )
        if (self.pots or self.names_flops) and not kinds:
            raise InputError(
                f"{solution.name} has one pot and one flop at most: leave kinds of pot and "
                "textures out"
            )
        if self.pots and not self.pots & kinds:
            raise InputError(
                f"{solution.name} has no {' or '.join(sorted(self.pots))} pots that see a flop: "
                f"it has {', '.join(kind for kind in POT_KINDS if kind in kinds)}"
            )
        if self.streets == {Street.PREFLOP} and self.sees_flop:
            raise InputError(
                "kinds of pot and textures are of hands that see a flop: ask for a later street, "
                "or say with --line what comes before it"
            )
        if self.sees_flop and Street.FLOP not in solution.streets and kinds:
            raise InputError(f"{solution.name} stores no decisions after the flop")
        solution.read(self.line, any_card=True)


def parse_seat(text: str) -> Player | None:
    """A seat; None: both in turn."""
    name = text.strip().lower()
    if name in ("", "both"):
        return None
    if name not in SEATS:
        raise InputError(f"'{text}' is not a seat: choose from sb (ip), bb (oop), both")
    return SEATS[name]


def _read(what: str, texts: Iterable[str], known: Mapping[str, Meaning]) -> list[Meaning]:
    """The meanings of words, in upper or lower case."""
    meanings = []
    for word in (part.strip() for text in texts for part in text.split(",")):
        name = word if word in known else word.lower()
        if name not in known:
            raise InputError(f"'{word}' is no {what}: {suggest(name, known)}")
        meanings.append(known[name])
    return meanings
