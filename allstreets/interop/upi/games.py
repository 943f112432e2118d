"""A whole game as the tree of a session: from the first action on, on a set of flops.

    set_pot 100 50 0                       blinds of OOP and IP, and dead money in the pot
    set_eff_stack 2000                     the most that a player can put in, his blind included
    add_preflop_line 250 750 2000          each player's chips after his action, the SB first
    build_preflop_tree                     the betting before the flop
    clear_lines
    add_line 150                           bets of a pot, counted from its flop on
    add_schematic_tree r:0:b250:c          … and the pot that they belong to
    add_to_subset 1 As Kh 7d               the flops that may come
    go

1. Every bet of a line before the flop may be folded to or called. The small blind limps if a line
   begins with the big blind.
2. Sizes after the flop belong to a kind of pot (limped, raised, 3-bet, 4-bet and more), a street
   and a player, as in `games.WholeGame`. They are the fewest that explain the lines of all pots of
   a kind; a pot with other bets than its lines is refused. Pots of a kind without lines are checked
   down.
3. Dead money is posted as antes, half by each player: no player can lose it, so EVs of both
   players sum to it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from allstreets.base import InputError, thread_count
from allstreets.betting import (
    CHIPS_PER_BB,
    BettingTree,
    FlopPot,
    NodeKind,
    Player,
    PreflopRules,
    Street,
    build_preflop_tree,
    exact_chips,
    flop_pots,
    neat,
    sizes_from_spot,
)
from allstreets.cards import (
    COMBO_COUNT,
    FLOP_COUNT,
    HAND_COUNT,
    Flop,
    FlopSet,
    Range,
    every_flop,
    preflop_equity,
    spread_flops,
)
from allstreets.cfr import parse_schedule
from allstreets.engines import CardModel
from allstreets.games import WholeGame, estimate_whole_game, game_identity, require_room
from allstreets.interop.pio_script import Amounts, LineBet, bets_of, bets_of_lines, sizes_of_bets
from allstreets.interop.upi.nodes import Nodes
from allstreets.interop.upi.settings import Settings
from allstreets.interop.upi.trees import Results, Saved, Tree
from allstreets.solutions import PreflopRoots, PreflopStrategies, SolutionFacts, WholeSolution
from allstreets.solvers import TREMBLE, WholeGameSolver, first_ranges
from allstreets.storage import save_unified

BOARDS = CardModel("boards")
SCHEDULE = "ahead"  # what whole games are trained with, unless they say otherwise
REBUCKETINGS = 2
ALL = Range(np.ones(COMBO_COUNT))
SMALL, BIG = Player.IP, Player.OOP
MBB_PER_CHIP = 1000 / CHIPS_PER_BB


@dataclass(frozen=True)
class Betting:
    """The betting before the flop; chips are those of the client."""

    rules: PreflopRules
    chip: Fraction  # the client's chips in a chip of the rules

    @classmethod
    def of(cls, settings: Settings) -> "Betting":
        """The betting that is set; an `InputError` says what is missing."""
        big, small = (Fraction(str(blind)) for blind in settings.blinds)
        if not 0 <= small < big:
            raise InputError("a tree needs blinds: set_pot 100 50 0, OOP's is the larger one")
        if not settings.preflop_lines:
            raise InputError("a tree needs add_preflop_line")
        for player, held in settings.ranges.items():
            if (held.weights != held.weights[0]).any() or not held.weights[0]:
                raise InputError(
                    f"a whole game begins with every hand: set_range {player.name} is not 1 for all"
                )
        stack, dead = Fraction(str(settings.stack)), Fraction(str(settings.pot))
        if stack <= big:
            raise InputError("a tree needs set_eff_stack: all of a stack, its blind included")
        fraction, cap = settings.rake
        rules = PreflopRules.parse(
            float((stack + dead / 2) / big),
            ante=float(dead / 2 / big),
            small_blind=float(small / big),
            lines=listed_lines(list(settings.preflop_lines), big, small, stack),
            rake=fraction,
            rake_cap=float(Fraction(str(cap)) / big) if fraction else None,
        )
        return cls(rules, big / CHIPS_PER_BB)


def listed_lines(
    lines: Sequence[Amounts], big: Fraction, small: Fraction, stack: Fraction
) -> tuple[str, ...]:
    """Lines of amounts as `preflop_lines`: each to the end of the betting.

    >>> F = Fraction
    >>> listed_lines([(F(250), F(2000))], F(100), F(50), F(2000))
    ('f', 'r2.5 f', 'r2.5 c', 'r2.5 a f', 'r2.5 a c')
    """
    listed = dict.fromkeys(["f"])
    for line in lines:
        put_in, words, actor = {BIG: big, SMALL: small}, list[str](), SMALL
        over = False
        for amount in line:
            called = put_in[actor.opponent]
            if over or not called <= amount <= stack:
                problem = "stands behind the end" if over else f"lies outside {called} to {stack}"
                raise InputError(f"add_preflop_line {_amounts(line)}: {amount} {problem}")
            limps = not words and amount == called
            over = amount == called and not limps
            if not over:
                words.append("c" if limps else _raise(amount, big, stack))
                head = " ".join(words)
                answers = ["x"] if limps else ["f", "c"]
                listed |= dict.fromkeys(f"{head} {answer}" for answer in answers)
            put_in[actor], actor = amount, actor.opponent
    return tuple(listed)


def _raise(amount: Fraction, big: Fraction, stack: Fraction) -> str:
    return "a" if amount == stack else f"r{float(amount / big):.9g}"


def _amounts(line: Amounts) -> str:
    return " ".join(f"{float(amount):.12g}" for amount in line)


class GameTree(Tree):
    """A whole game that is built of a client's lines, or was loaded."""

    def __init__(
        self,
        betting: Betting,
        settings: Settings,
        model: CardModel = BOARDS,
        stored: WholeSolution | None = None,
    ) -> None:
        """`settings` name the flops when it is solved; `stored` is the solution of a folder."""
        super().__init__(0.0 if stored is None else stored.facts.seconds)
        self._betting, self._settings = betting, settings
        self._model, self.stored = model, stored
        self._tree = build_preflop_tree(betting.rules) if stored is None else stored.before.tree
        self._lines: dict[int, tuple[Amounts, ...]] = {}  # after the flop, by the node of their pot
        self._solver: WholeGameSolver | None = None
        self._shown: tuple[int, WholeSolution] | None = None

    @classmethod
    def loaded(cls, solution: WholeSolution, settings: Settings) -> "GameTree":
        """The tree of a folder: a big blind is 100 chips."""
        return cls(Betting(solution.rules, Fraction(1)), settings, solution.cards, solution)

    # The answers to the client.

    @property
    def pot(self) -> float:
        """The blinds and the dead money."""
        (oop, ip), dead = self.start
        return oop + ip + dead

    @property
    def start(self) -> tuple[tuple[float, float], float]:
        """The blinds of OOP and IP, and the dead money."""
        rules, chip = self._betting.rules, float(self._betting.chip)
        return (chip * rules.big_blind, chip * rules.small_blind), self._dead

    @property
    def iterations(self) -> int:
        """Iterations of training."""
        if self.stored is not None:
            return self.stored.facts.iterations
        return 0 if self._solver is None else self._solver.iterations

    @property
    def _antes(self) -> tuple[float, float]:
        rules, chip = self._betting.rules, float(self._betting.chip)
        return chip * (rules.ante + rules.bb_ante), chip * rules.ante

    @property
    def _dead(self) -> float:
        return neat(sum(self._antes))

    @property
    def stack(self) -> float:
        """All that a player can put in, his blind included."""
        rules = self._betting.rules
        return neat(float(self._betting.chip) * (rules.playing_stack - rules.ante))

    @property
    def ranges(self) -> tuple[Range, Range]:
        """Every hand."""
        return ALL, ALL

    @property
    def info(self) -> list[str]:
        """The game as lines like those of PioSOLVER's viewer."""
        rules, chip = self._betting.rules, float(self._betting.chip)
        return [
            "#Type#NoLimit",
            *(f"#Range{player.value}#random" for player in Player),
            f"#Pot#{self._dead}",
            f"#EffectiveStacks#{self.stack}",
            f"#Blinds#{neat(chip * rules.big_blind)} {neat(chip * rules.small_blind)}",
            f"#Rake.Enabled#{bool(rules.rake)}",
            f"#Rake.Fraction#{rules.rake:g}",
            f"#Rake.Cap#{neat(chip * (rules.rake_cap or 0))}",
        ]

    @property
    def nodes(self) -> Nodes:
        """The nodes with the strategies that were solved; until then, those before the flop."""
        solution, chip = self._solution, float(self._betting.chip)
        pairs = float(solution.before.pairs.sum())
        return Nodes(solution, self._dead, pairs, chip, chip * CHIPS_PER_BB, self._antes)

    @property
    def _solution(self) -> WholeSolution:
        if self.stored is not None:
            return self.stored
        solver = self._solver
        if solver is None:
            return self._untrained()
        if self._shown is None or self._shown[0] != solver.iterations:
            self._shown = solver.iterations, WholeSolution.of(solver)
        return self._shown[1]

    def _untrained(self) -> WholeSolution:
        """The betting before the flop alone, played evenly."""
        tree = self._tree
        pairs = preflop_equity().pairs.astype(np.float64)
        counts = {node: int(tree.child_count[node]) for node in tree.decisions()}
        even = {node: np.full((count, HAND_COUNT), 1 / count) for node, count in counts.items()}
        roots = PreflopRoots(self._betting.rules, PreflopStrategies.known(tree, pairs, even, None))
        return WholeSolution(roots, None, SolutionFacts(0, SCHEDULE, None))

    # What is solved.

    def set_lines(self, text: str, lines: Sequence[Amounts]) -> None:
        """Give the bets of these lines to the pot at a node."""
        node = self.nodes.find(text)
        if node.position.root is not None or not self._sees_flop(node.index):
            raise InputError(f"'{text}': no flop is dealt there")
        if self.stored is not None:
            raise InputError("this game was loaded: build_preflop_tree begins another one")
        before = dict(self._lines)
        self._lines[node.index] = tuple(lines)
        try:
            self._sizes()
        except InputError:
            self._lines = before
            raise

    def _sees_flop(self, node: int) -> bool:
        return bool(self._tree.kind[node] == NodeKind.CHANCE)

    @property
    def _pots(self) -> dict[int, FlopPot]:
        return {pot.node: pot for pot in flop_pots(self._tree)}

    def _bets(self, node: int) -> dict[Amounts, LineBet]:
        """The bets of a pot's lines."""
        pot, chip = self._pots[node], self._betting.chip
        amounts = exact_chips(pot.pot) * chip, exact_chips(pot.stack) * chip
        return bets_of_lines(dict(enumerate(self._lines[node], 1)), Street.FLOP, *amounts)

    def _sizes(self) -> WholeGame:
        """The game of the lines, without flops; lines that no sizes explain are refused."""
        known: dict[str, dict[int, dict[Amounts, LineBet]]] = {}
        for node in self._lines:
            known.setdefault(self._pots[node].kind, {})[node] = self._bets(node)
        by_kind = {
            kind: [bet for bets in pots.values() for bet in bets.values()]
            for kind, pots in known.items()
        }
        sizes = {
            kind: sizes_from_spot(sizes_of_bets(bets, Street.FLOP), Street.FLOP)
            for kind, bets in by_kind.items()
        }
        none = sizes_from_spot(sizes_of_bets([], Street.FLOP), Street.FLOP)
        game = WholeGame(
            self._betting.rules,
            none,
            self._flops,
            max_raises=max((bet.raises for bets in by_kind.values() for bet in bets), default=0),
            pot_sizes=sizes,
        )
        for pot in game.flop_pots:
            if pot.node in self._lines:
                wanted = set(known[pot.kind][pot.node])
                self._require_same(wanted, game.after_the_flop(pot).tree, pot)
        return game

    def _require_same(self, wanted: set[Amounts], tree: BettingTree, pot: FlopPot) -> None:
        """Refuse a pot whose bets are not those of its lines."""
        chip = self._betting.chip
        ours = {tuple(amount * chip for amount in line) for line in bets_of(tree)}
        if ours == wanted:
            return
        line = min(ours ^ wanted, key=lambda line: (len(line), line))
        problem = "is not among them" if line in ours else "cannot be one"
        raise InputError(
            f"the lines of a {pot.name} pot do not follow from bet sizes by street and player: the "
            f"bet at the end of add_line {_amounts(line)} {problem}, given the other lines' sizes"
        )

    # Training.

    @property
    def _flops(self) -> FlopSet:
        """The flops that the client has named; where none is seen, it does not matter which."""
        subset = self._settings.subset
        if not self._pots:
            return spread_flops(1)
        if len(subset) == FLOP_COUNT and all(
            weight == flop.multiplicity for flop, weight in subset.items()
        ):
            return every_flop()
        return FlopSet("upi", tuple(subset), np.array(list(subset.values()), np.float64))

    def _game(self) -> WholeGame:
        if self.stored is not None:
            raise InputError(
                "a whole game that was loaded is not trained here: allstreets train --resume does"
            )
        game = replace(self._sizes(), flops=self._flops)
        if not game.flops.flops:
            raise InputError(
                "there are no flops: send add_to_subset 1 As Kh 7d, or add_all_flops, first"
            )
        return game

    def _cards(self, game: WholeGame) -> CardModel:
        return self._model if game.flop_pots else CardModel()

    def estimate(self, threads: int | None) -> int:
        """The bytes of memory that solving takes."""
        game = self._game()
        need = estimate_whole_game(game, self._cards(game), threads=thread_count(threads))
        return need.resident_bytes

    def trainable(self, threads: int | None) -> WholeGameSolver:
        """The game's solver; with other flops or lines it is another game, solved afresh."""
        game, solver = self._game(), self._solver
        if solver is not None and game_identity(solver.game) == game_identity(game):
            return solver
        model, count = self._cards(game), thread_count(threads)
        need = estimate_whole_game(game, model, threads=count)
        require_room(game, need, model, "resident")
        schedule, ranges = parse_schedule(SCHEDULE), None
        if model.goes_by_ranges:
            ranges = first_ranges(game, schedule, count)
        engine = game.build(game.engine(model, threads=count, ranges=ranges))
        regroup = REBUCKETINGS if model.goes_by_ranges else 0
        self._solver = WholeGameSolver(game, engine, schedule, regroup=regroup, tremble=TREMBLE)
        self._shown = None
        self.runs.clear()
        return self._solver

    def exploitability(self) -> float:
        """The exploitability of what the solver holds, as a fraction of the pot."""
        assert self._solver is not None
        mbb = self._solver.exploitability() or 0.0
        return mbb / MBB_PER_CHIP * float(self._betting.chip) / self.pot

    def results(self) -> Results:
        """The results of the strategies, by best responses where the solver is here."""
        if self._solver is None:
            return self._stored_results()
        chip, solver = float(self._betting.chip), self._solver
        before, leaves = solver.preflop, solver.leaves
        average = before.average()
        reach = before.pot_reach(average)
        means = np.zeros((2, len(Player)))
        for player in Player:
            for best in (False, True):
                pots = (leaves.best_response if best else leaves.evaluate)(
                    player, reach[player.opponent]
                )
                values = before.values(player, pots, best=best, strategies=average)
                means[int(best), player] = values[0].sum() / before.game.weight
        (oop, ip), (best_oop, best_ip) = (means * chip + self._antes).tolist()
        gain = max((best_oop + best_ip - oop - ip) / 2, 0.0)
        return Results((oop, ip), (best_oop, best_ip), gain)

    def _stored_results(self) -> Results:
        """The results that a folder names."""
        solution, unknown = self._solution, (math.nan, math.nan)
        unit = float(self._betting.chip) / MBB_PER_CHIP
        values = unknown if solution.values is None else solution.values
        oop, ip = (value * unit + ante for value, ante in zip(values, self._antes, strict=True))
        error = solution.exploitability
        return Results((oop, ip), unknown, math.nan if error is None else error * unit)

    def save(self, folder: Path, saved: Saved) -> None:
        """Write its folder, with all streets."""
        if self._solver is None:
            raise InputError("nothing was solved yet: send go first")
        if saved != "full":
            raise InputError("a whole game is stored with all of its streets: write full")
        save_unified(self._solver, folder, config={}, seconds=self.seconds)

    @property
    def flops(self) -> dict[Flop, float]:
        """The flops that it was solved on, with their weights."""
        if self.stored is None and self._solver is None:
            raise InputError("nothing was solved yet: send go first")
        flops = self._solution.game.flops
        return dict(zip(flops.flops, flops.weights.tolist(), strict=True))
