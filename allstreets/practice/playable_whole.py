"""A whole game, or its part before the flop, to play hands on."""

from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import (
    ANY_CARD,
    BIG_BLINDS,
    BLINDS_AND_CARDS,
    CHIPS_PER_BB,
    POT_KINDS,
    BettingTree,
    FlopPot,
    Line,
    NodeKind,
    Notation,
    Player,
    Street,
    dealt,
    flop_pots,
    line_text,
    parse_line,
    payoffs,
    split_line,
    whole_line,
)
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_OF_COMBO,
    Flop,
    all_flops,
    canonical_flop,
    cards_text,
    parse_board,
)
from allstreets.engines import CardModel
from allstreets.practice.playable import (
    AFTER,
    BEFORE,
    Position,
    TextureTest,
    Way,
    path_places,
)
from allstreets.solutions import Decision, PotView, WholeSolution, in_suits, swept

CACHED_VIEWS = 8  # pots on flops, with all their values
UNOPENED = "unopened"
BLIND = (
    "{kind}: the solution does not see turn and river cards, so none are dealt before the showdown"
)
FLOP_ONLY = "cards: exact stores the flop: hands end there"
NO_FLOPS = "this solution stores nothing after the flop: hands end where it is dealt"


class PlayableWhole:
    """A `Playable` of a whole game."""

    root = Position(BEFORE, 0)
    chips_per_bb = float(CHIPS_PER_BB)

    def __init__(self, result: WholeSolution, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self._result = result
        self._whole = result if isinstance(result, WholeSolution) and result.has_flops else None
        self._before = result.before.tree
        self._pots: dict[int, tuple[int, FlopPot]] = {
            pot.node: (number, pot) for number, pot in enumerate(flop_pots(self._before))
        }
        self._view = lru_cache(CACHED_VIEWS)(self._new_view)

    @property
    def _cards(self) -> CardModel | None:
        return None if self._whole is None else self._whole.cards

    @property
    def note(self) -> str:
        """What its card model leaves out."""
        cards = self._cards
        if cards is None:
            return NO_FLOPS if self._pots else ""
        if cards.kind == "exact":
            return FLOP_ONLY
        return "" if cards.stores_cards else BLIND.format(kind=f"cards: {cards.kind}")

    @property
    def exploitability_bb(self) -> float | None:
        """With real cards where there is a certificate, else in its own game."""
        certificate = self._result.facts.certificate
        if certificate is not None:
            return certificate.real_exploitability_mbb / 1000
        known = self._result.exploitability
        return None if known is None else known / 1000

    @property
    def streets(self) -> tuple[Street, ...]:
        """Those with decisions that are stored."""
        last = Street.PREFLOP if self._cards is None else self._cards.last_street
        return tuple(street for street in Street if street <= last)

    def tree(self, at: Position) -> BettingTree:
        """Before the flop or after it."""
        return self._before if at.tree == BEFORE else self._pot_tree(at.pot)

    def _pot_tree(self, pot: int) -> BettingTree:
        assert self._whole is not None
        return self._whole.pot(self._pots[pot][0]).tree

    def board(self, at: Position) -> tuple[int, ...]:
        """What was dealt."""
        return at.cards

    @property
    def _notation(self) -> Notation:
        cards = self._cards
        return BLINDS_AND_CARDS if cards is not None and cards.stores_cards else BIG_BLINDS

    def line(self, at: Position) -> str:
        """The way to a position."""
        if at.tree == BEFORE:
            return line_text(self._before, at.node, notation=BIG_BLINDS)
        before = line_text(self._before, at.pot, notation=BIG_BLINDS)
        after = line_text(self._pot_tree(at.pot), at.node, at.cards[3:], self._notation)
        return whole_line(before, cards_text(at.cards[:3]), after)

    def read(self, line: str) -> Way:
        """The way that a line describes; any flop, where it names none."""
        found = split_line(line, self._result.read_root)
        way = path_places(BEFORE, self._before, found.root)
        if found.after is None and found.flop is None:
            return Way(way, -1, ())
        if found.root not in self._pots:
            raise InputError(f"line '{line}' goes on after the flop, but none is dealt there")
        if self._whole is None:
            raise InputError(f"line '{line}' goes on after the flop: {NO_FLOPS}")
        flop = parse_board(found.cards) if found.cards else (ANY_CARD,) * 3
        if found.flop is not None and self._whole.place_of(found.flop.flop) is None:
            raise InputError(f"line '{line}': the flop {found.cards} is none of this solution's")
        tree, notation = self._pot_tree(found.root), self._notation
        after = parse_line(tree, found.after or "", flop, any_card=True, notation=notation)
        # Where no card is named, a line that ends with a street leads to the next one.
        node = after.node if notation.names_cards else dealt(tree, after.node)
        cards = after.cards if notation.names_cards else ()
        return Way((*way, *path_places(AFTER, tree, node)), found.root, (*flop, *cards))

    def decision(self, at: Position) -> Decision:
        """A decision of the solution, by combo where it plays combos."""
        if at.tree == BEFORE:
            return self._result.before.node(at.node)
        whole, line = self._whole, self.line(at)
        assert whole is not None
        named = canonical_flop(at.cards[:3])
        if len(at.cards) > 3:
            place, number = whole.place_of(named.flop), self._pots[at.pot][0]
            assert place is not None
            way = Line(self._pot_tree(at.pot).path_to(at.node), at.cards[3:])
            shown = whole.real_streets(place, number).at(way, at.cards[:3])
            return replace(shown, line=line)
        view = self._view(at.pot, named.flop)
        if not whole.cards.plays_combos:
            return replace(view.node(at.node, line), board=at.cards)
        return in_suits(view.combo_node(at.node, line), named, at.cards)

    def _new_view(self, pot: int, flop: Flop) -> PotView:
        whole = self._whole
        assert whole is not None
        place = whole.place_of(flop)
        assert place is not None
        return swept(whole.flop_view(place, self._pots[pot][0]), whole.cards.plays_classes)

    def weights(self, at: Position) -> tuple[Floats, Floats]:
        """The ranges that get to a position."""
        if at.tree == AFTER and self.tree(at).kind[at.node] == NodeKind.DECISION:
            here = self.decision(at)
            return here.combo_weights(Player.OOP), here.combo_weights(Player.IP)
        oop, ip = self._result.before.reach[at.pot if at.tree == AFTER else at.node]
        return oop[HAND_OF_COMBO], ip[HAND_OF_COMBO]

    def stored(self, at: Position) -> bool:
        """Whether the next street is."""
        cards = self._cards
        return cards is not None and self.tree(at).street[at.node] < cards.last_street

    def cards_dealt(self, at: Position) -> int:
        """A flop, a card, or nothing that the solution would see."""
        if at.tree == BEFORE:
            return 3
        cards = self._cards
        return int(cards is not None and cards.stores_cards)

    def dealt(self, at: Position, cards: tuple[int, ...]) -> Position:
        """The next street."""
        if at.tree == BEFORE:
            return Position(AFTER, 0, at.node, cards)
        return replace(at, node=dealt(self.tree(at), at.node), cards=(*at.cards, *cards))

    def flop(self, chance: np.random.Generator, wanted: TextureTest) -> tuple[int, int, int] | None:
        """By the weights of the solution's flops, any of the suits that make it the same."""
        flops, weights = self._flops
        allowed = np.array([wanted(flop.texture) for flop in flops])
        if not allowed.any():
            raise InputError("no flop of this solution is like that: choose other textures")
        sums = np.cumsum(np.where(allowed, weights, 0.0))
        drawn = flops[int(np.searchsorted(sums, chance.random() * sums[-1], side="right"))]
        permutation = CARD_PERMUTATIONS[int(chance.integers(len(CARD_PERMUTATIONS)))]
        high, middle, low = sorted(permutation[list(drawn.cards)].tolist(), reverse=True)
        return high, middle, low

    @cached_property
    def _flops(self) -> tuple[tuple[Flop, ...], Floats]:
        """The flops that are dealt, and how often each is."""
        if isinstance(self._result, WholeSolution) and self._pots:
            found = self._result.game.flops
            return found.flops, found.weights
        every = all_flops()
        return every, np.array([flop.multiplicity for flop in every], np.float64)

    def pots(self) -> tuple[tuple[int, str], ...]:
        """The pots that see a flop."""
        return tuple((node, pot.kind) for node, (_, pot) in self._pots.items())

    def kind(self, at: Position) -> str:
        """By the raises before the flop; nobody has done anything yet: unopened."""
        if at.tree == AFTER:
            return self._pots[at.pot][1].kind
        actions = [self._before.actions[step] for step in self._before.path_to(at.node)[1:]]
        raises = sum(action is not None and action.is_aggressive for action in actions)
        return POT_KINDS[min(raises, len(POT_KINDS) - 1)] if actions else UNOPENED

    def payoffs(self, at: Position) -> Floats:
        """The result of the whole hand."""
        found: Floats
        if at.tree == BEFORE:
            found = self._won[at.node]
        else:
            assert self._whole is not None
            found = self._whole.pot(self._pots[at.pot][0]).payoffs[at.node]
        return found

    @cached_property
    def _won(self) -> Floats:
        return payoffs(self._before, self._result.rules)
