"""The 1,755 flops that differ by more than the names of suits, and sets of them with weights.

A set has all flops, those that the user names, or a few that stand for all.

A weight says how many of the 22,100 flops a flop of the set stands for. `subset_95` has flops and
weights chosen so that hands do on them as they do on all flops (`flop_choice`), and comes with the
package; `spread_95` takes the middles of equal parts; `fitted_95` is chosen for a game, by a
solution of it.

    subsets/subset_95.json    flops: {"AsKh7d": 231.42, …}, how it was made and how evaluated

`allstreets flops --choose 95 --output FILE` writes such a file. `error` is the distance that the
choice leaves (`flop_choice.flop_set_error`). `judged` has a row per game: what a strategy that was
trained on these flops alone is exploitable for among all flops, as measured by
benchmarks/flop_subsets.py.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError, Longs
from allstreets.cards.card import RANKS, card_rank, card_suit, cards_text, parse_board
from allstreets.cards.hands import COMBO_COUNT
from allstreets.cards.isomorphism import (
    CARD_PERMUTATIONS,
    COMBO_PERMUTATIONS,
    SUIT_PERMUTATIONS,
    canonical_boards,
    canonical_permutation,
)

FLOP_COUNT = 1755
SUITS_NAMES = {1: "monotone", 2: "two-tone", 3: "rainbow"}
PAIRING_NAMES = {1: "trips", 2: "paired", 3: "unpaired"}


@dataclass(frozen=True)
class Texture:
    """The words with which players describe a flop."""

    suits: str  # rainbow, two-tone or monotone
    pairing: str  # unpaired, paired or trips
    high_card: str  # A, K, …
    connectedness: str  # connected: 3 ranks that make straights as they stand; see `texture`
    straight_possible: bool  # two hole cards can make a straight


@dataclass(frozen=True)
class Flop:
    """A canonical flop: highest card first, suits in the order s h d c by the cards they hold."""

    number: int  # 0..1754
    cards: tuple[int, int, int]
    multiplicity: int  # how many of the 22,100 flops it stands for
    texture: Texture

    @property
    def text(self) -> str:
        """The flop's cards: "AsKh7d"."""
        return cards_text(self.cards)


@dataclass(frozen=True)
class CanonicalFlop:
    """A flop, the canonical flop that it is, and the renaming of suits between them."""

    flop: Flop
    permutation: (
        int  # the row of `SUIT_PERMUTATIONS` that takes the given flop to the canonical one
    )

    @property
    def suit_map(self) -> tuple[int, ...]:
        """The suits that c d h s of the given flop become."""
        return tuple(SUIT_PERMUTATIONS[self.permutation].tolist())

    def solved_cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Cards beside the given flop as they lie beside the canonical one."""
        return tuple(CARD_PERMUTATIONS[self.permutation][list(cards)].tolist())

    def named_cards(self, cards: Sequence[int]) -> tuple[int, ...]:
        """Cards beside the canonical flop in the suits of the given one."""
        return tuple(np.argsort(CARD_PERMUTATIONS[self.permutation])[list(cards)].tolist())

    def named_combos(self, combos: Longs) -> Longs:
        """[H]: combos beside the canonical flop in the suits of the given one."""
        back = np.empty(COMBO_COUNT, np.int64)
        back[COMBO_PERMUTATIONS[self.permutation]] = np.arange(COMBO_COUNT)
        return back[combos]


def texture(cards: Sequence[int]) -> Texture:
    """The texture of three cards.

    Connectedness looks at the different ranks, the ace high or low, whichever is closer:
    *connected* when they lie within five ranks of each other (a straight is possible),
    *semi-connected* when two of them lie within three ranks (97x, 98x), else *disconnected*.

    >>> from allstreets.cards.card import parse_cards
    >>> t = texture(parse_cards("9h8h2c"))
    >>> t.suits, t.pairing, t.high_card, t.connectedness, t.straight_possible
    ('two-tone', 'unpaired', '9', 'semi-connected', False)
    """
    ranks = sorted({card_rank(card) for card in cards}, reverse=True)
    low_ace = sorted({-1 if rank == 12 else rank for rank in ranks}, reverse=True)
    span = min(ranks[0] - ranks[-1], low_ace[0] - low_ace[-1])
    closest = min(
        (high - low for spelling in (ranks, low_ace) for high, low in pairwise(spelling)), default=0
    )
    if len(ranks) == 1:
        connectedness = "disconnected"
    elif span <= 4:
        connectedness = "connected"
    elif closest <= 2:
        connectedness = "semi-connected"
    else:
        connectedness = "disconnected"
    return Texture(
        suits=SUITS_NAMES[len({card_suit(card) for card in cards})],
        pairing=PAIRING_NAMES[len(ranks)],
        high_card=RANKS[ranks[0]],
        connectedness=connectedness,
        straight_possible=len(ranks) == 3 and span <= 4,
    )


@cache
def all_flops() -> tuple[Flop, ...]:
    """The 1,755 canonical flops, highest cards first; their multiplicities sum to 22,100."""
    boards, multiplicities = canonical_boards(3)
    return tuple(
        Flop(number, (high, middle, low), multiplicity, texture((high, middle, low)))
        for number, ((high, middle, low), multiplicity) in enumerate(
            zip(boards.tolist(), multiplicities.tolist(), strict=True)
        )
    )


@cache
def _number_of_cards() -> dict[tuple[int, ...], int]:
    return {flop.cards: flop.number for flop in all_flops()}


def canonical_flop(cards: Sequence[int]) -> CanonicalFlop:
    """The canonical flop of any three cards, with the renaming that leads to it."""
    if len(set(cards)) != 3:
        raise InputError(f"a flop has 3 different cards, not '{cards_text(cards)}'")
    permutation = canonical_permutation(cards)
    renamed = np.sort(CARD_PERMUTATIONS[permutation][list(cards)])[::-1]
    return CanonicalFlop(all_flops()[_number_of_cards()[tuple(renamed.tolist())]], permutation)


def parse_flop(text: str) -> CanonicalFlop:
    """Read a flop such as "AhKd7s"."""
    cards = parse_board(text)
    if len(cards) != 3:
        raise InputError(f"'{text}' has {len(cards)} cards: a flop has 3, such as AhKd7s")
    return canonical_flop(cards)


FOLDER = Path(__file__).parent / "subsets"
FILE = re.compile(r"subset_(\d+)\.json")

Subset = dict[str, Any]
ALL, NAMED = "all", "named"
SPREAD = re.compile(r"spread[_-]?(\d{1,5})")
SUBSET = re.compile(r"subset[_-]?(\d{1,5})")
FITTED = re.compile(r"fitted[_-]?(\d{1,5})")
SUITS_ORDER = ("rainbow", "two-tone", "monotone")
PAIRING_ORDER = ("unpaired", "paired", "trips")


@cache
def subset_counts() -> tuple[int, ...]:
    """The sizes of the package's subsets, rising."""
    matches = (FILE.fullmatch(path.name) for path in FOLDER.iterdir())
    return tuple(sorted(int(match[1]) for match in matches if match))


@cache
def read_subset(count: int) -> Subset:
    """The file of a subset: flops with their weights, and facts about it."""
    if count not in subset_counts():
        raise InputError(
            f"there is no subset_{count}: there are {_listed()}; spread_{count} takes the middles "
            "of equal parts"
        )
    subset: Subset = json.loads(subset_path(count).read_text(encoding="utf-8"))
    return subset


def stated_error(name: str) -> float | None:
    """The error of a subset of the package as its file states it; None for any other name."""
    match = FILE.fullmatch(f"{name}.json")
    if match is None or int(match[1]) not in subset_counts():
        return None
    return float(read_subset(int(match[1]))["error"])


def subset_path(count: int) -> Path:
    """The path of the subset of this many flops, whether it exists or not."""
    return FOLDER / f"subset_{count}.json"


def fitting_subset(count: int) -> int | None:
    """The largest subset of at most this many flops; None: all are larger."""
    return max((size for size in subset_counts() if size <= count), default=None)


def subset_text(
    weights: Mapping[str, float], error: float, made: str, judged: list[Subset] | None = None
) -> str:
    """The text of a subset's file."""
    facts = {"made": made, "error": round(error, 6), "judged": judged or []}
    head = json.dumps(facts, indent=1, ensure_ascii=False)[:-2]
    rows = ",\n".join(f"  {json.dumps(flop)}: {weight}" for flop, weight in weights.items())
    return f'{head},\n "flops": {{\n{rows}\n }}\n}}\n'


def _listed() -> str:
    names = [f"subset_{count}" for count in subset_counts()]
    return f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True, eq=False)
class FlopSet:
    """F different canonical flops with their weights."""

    name: str
    flops: tuple[Flop, ...]
    weights: Floats  # [F]

    @property
    def is_all(self) -> bool:
        """Whether every flop is in the set, so that cards are dealt as in the real game."""
        return len(self.flops) == FLOP_COUNT


def every_flop() -> FlopSet:
    """All 1,755 flops, each as often as it is dealt."""
    return _set(ALL, all_flops())


def spread_flops(count: int) -> FlopSet:
    """`count` flops that stand for all: similar flops lie together, each part contributes its
    middle flop.

    Flops are ordered by suits, pairing and ranks, the order is cut into parts of equal numbers of
    dealt flops, and the middle one of a part weighs as much as the part.

    >>> spread = spread_flops(4)
    >>> [flop.text for flop in spread.flops], spread.weights.tolist()
    (['Ks5h4d', '8s8h3d', 'Qs9h7s', 'As4s4h'], [5525.0, 5525.0, 5525.0, 5525.0])
    """
    if not 1 <= count <= FLOP_COUNT:
        raise InputError(f"{count} flops: choose between 1 and {FLOP_COUNT}")
    if count == FLOP_COUNT:
        return every_flop()
    flops = by_likeness(all_flops())
    ends = np.cumsum([flop.multiplicity for flop in flops])
    cuts = ends[-1] * np.arange(count) / count
    middles = cuts + ends[-1] / count / 2
    chosen = np.searchsorted(ends, middles, side="right")
    # A flop that is the middle of two narrow parts weighs as much as both.
    numbers, times = np.unique(chosen, return_counts=True)
    weights = times * (ends[-1] / count)
    return FlopSet(f"spread_{count}", tuple(flops[number] for number in numbers), weights)


def subset_flops(count: int) -> FlopSet:
    """The subset of `count` flops that comes with the package, weights to stand for all.

    >>> subset = subset_flops(15)
    >>> len(subset.flops), round(float(subset.weights.sum()), 6)
    (15, 22100.0)
    """
    weights: dict[str, float] = read_subset(count)["flops"]
    flops = tuple(parse_flop(text).flop for text in weights)
    return FlopSet(f"subset_{count}", flops, np.array(list(weights.values()), np.float64))


def fitted_count(given: object) -> int | None:
    """The number of flops of `fitted_95`; None: something else is given.

    >>> fitted_count("fitted_95"), fitted_count("subset_95")
    (95, None)
    """
    match = FITTED.fullmatch(given.strip().lower()) if isinstance(given, str) else None
    if match is None:
        return None
    count = int(match[1])
    if not 1 <= count < FLOP_COUNT:
        raise InputError(f"{count} flops: choose between 1 and {FLOP_COUNT - 1} to fit, or all")
    return count


def by_likeness(flops: Iterable[Flop]) -> list[Flop]:
    """Flops in an order in which similar ones lie together: by suits, pairing and ranks."""
    return sorted(flops, key=_likeness)


def named_flops(texts: Sequence[str]) -> FlopSet:
    """Flops by name ("AhKsQd"), each as often as it is dealt; a weight may follow a colon.

    >>> named_flops(["AhKsQd", "2c3h4d:2"]).weights.tolist()
    [24.0, 48.0]
    """
    weights: dict[int, float] = {}
    for text in texts:
        cards, _, factor = str(text).partition(":")
        flop = parse_flop(cards.strip()).flop
        if flop.number in weights:
            raise InputError(
                f"flop {cards} is listed twice: {flop.text} up to the names of suits; give it "
                "once, with a weight if it should count more (AhKd7s:2)"
            )
        weights[flop.number] = flop.multiplicity * _factor(text, factor)
    if not weights:
        raise InputError("the list of flops is empty: name some (AhKd7s), or write all")
    flops = tuple(all_flops()[number] for number in weights)
    return FlopSet(NAMED, flops, np.array(list(weights.values())))


def parse_flop_set(given: str | int | Sequence[str]) -> FlopSet:
    """`all`, `subset_95`, `spread_25`, a number of flops (spread), or a list of flops."""
    if isinstance(given, int):
        return every_flop() if given == 0 else spread_flops(min(given, FLOP_COUNT))
    if not isinstance(given, str):
        return named_flops(given)
    text = given.strip().lower()
    if text == ALL:
        return every_flop()
    if match := SPREAD.fullmatch(text):
        return spread_flops(int(match[1]))
    if match := SUBSET.fullmatch(text):
        return subset_flops(int(match[1]))
    if count := fitted_count(text):
        raise InputError(
            f"flops '{given}' are chosen by a solution on all flops: name its folder with "
            f"fitted_from, or write spread_{count} or a subset"
        )
    if "," in given or " " in text or len(text.partition(":")[0]) == 6:
        return named_flops(re.split(r"[,\s]+", given.strip()))
    raise InputError(
        f"flops '{given}': write all, subset_95, spread_25, or a list such as [AhKd7s, 9h8h2c]"
    )


def _set(name: str, flops: Sequence[Flop]) -> FlopSet:
    weights = np.array([flop.multiplicity for flop in flops], np.float64)
    return FlopSet(name, tuple(flops), weights)


@cache
def _likeness(flop: Flop) -> tuple[int, int, list[int]]:
    """The sort key that puts similar flops together: suits, pairing, then ranks, high to low."""
    return (
        SUITS_ORDER.index(flop.texture.suits),
        PAIRING_ORDER.index(flop.texture.pairing),
        [-card_rank(card) for card in flop.cards],
    )


def _factor(text: str, factor: str) -> float:
    if not factor:
        return 1.0
    try:
        number = float(factor)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e6:
        raise InputError(f"flop '{text}': the weight after the colon must be a positive number")
    return number
