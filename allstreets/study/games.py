"""The solutions that grade hands, and that hands are played on.

A review takes whole games, from one folder or from a folder of several. Practice takes any
solution:

| solution                    | turn and river                                                   |
|-----------------------------|------------------------------------------------------------------|
| spot                        | real cards                                                       |
| whole game, `boards`; flops | real cards                                                       |
| that were solved exactly    |                                                                  |
| whole game, `classes`,      | betting without a card: the solution does not see it, |
| `buckets`, `sampled`        | and at the showdown the board is dealt                           |
| whole game, `exact`         | not stored: the hand ends with the flop                          |
| preflop, `store: preflop`   | not stored: the hand ends before the flop                        |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from pathlib import Path

from allstreets.base import Floats, InputError
from allstreets.betting import (
    CHIPS_PER_BB,
    POT_KINDS,
    ActionKind,
    PreflopRules,
    Street,
    flop_pots,
)
from allstreets.cards import canonical_flop, cards_text
from allstreets.interop import Moment, PlayedHand
from allstreets.jobs import Callbacks, SpotJob, plan_flop
from allstreets.solutions import ExactFlop, ExactFlops, Position, Solution, WholeSolution
from allstreets.storage import (
    MANIFEST,
    SpotSet,
    folder_kind,
    library,
    load,
    load_unified,
    mirrored,
)

UNOPENED, SPOT = "unopened", "spot"
NO_BIG_BLIND = "the spot does not say what a big blind is: a chip counts as one"
MODELS = (
    "{folder} contains flops solved one by one, with ranges that are never played: practise "
    "with a spot (allstreets solve) or a whole game (allstreets train)"
)
MAKE = "allstreets train … --output DIR makes one, and allstreets library lists ready-made ones"
SMALL_RAKE = 0.002  # of the pot: smaller differences are ignored
READY_MADE = "library"  # the name of all ready-made games together
# A tree that only moves all-in counts as this much further away in stack, and as even further if
# the hand has a limp or a small raise.
ALL_IN_ONLY, UNLIKE = log(1.25), log(1.5)


@dataclass(frozen=True, eq=False)
class SolvedGame:
    """A whole game and its name."""

    name: str
    solution: WholeSolution
    identity: str = ""  # changes when the solution does
    folder: Path | None = None  # where it lies

    @cached_property
    def stack(self) -> float:
        """The stack depth, in big blinds."""
        return self.solution.rules.stack / CHIPS_PER_BB

    @property
    def ante(self) -> float:
        """The ante of each player, in big blinds."""
        return self.solution.rules.ante / CHIPS_PER_BB

    @cached_property
    def is_push_or_fold(self) -> bool:
        """Whether every bet is all-in, so that no pot sees a flop."""
        return not flop_pots(self.solution.tree(self.solution.start))

    def has_kind(self, moment: Moment) -> bool:
        """Whether the tree has such a kind of action: push or fold has neither limp nor raise."""
        kind = moment.action.kind
        passive = kind in (ActionKind.CHECK, ActionKind.CALL)
        limps = passive and moment.most > moment.bets[moment.action.player.opponent]
        raises = kind >= ActionKind.BET and not moment.is_all_in
        return not (self.is_push_or_fold and (limps or raises))

    @property
    def exploitability(self) -> float | None:
        """Exploitability in mbb/hand, with real cards where that is certified."""
        certificate = self.solution.facts.certificate
        if certificate is not None:
            return certificate.real_exploitability_mbb
        return self.solution.exploitability

    @property
    def worth_text(self) -> str:
        """The same as the end of a sentence; "" where it is not known."""
        facts, worth = self.solution.facts, self.exploitability
        where = facts.judged if facts.certificate is None else "with real cards"
        return "" if worth is None else f", exploitable for {worth:.3g} mbb/hand {where}"


def open_games(folder: Path) -> tuple[SolvedGame, ...]:
    """The whole games in a folder: the one that it holds, or those of its subfolders.

    "library" means all ready-made ones, if no folder has that name; a name means one of them.
    """
    if folder == Path(READY_MADE) and not folder.exists():
        return load_games([packed.folder() for packed in library().values()])
    folder = mirrored(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: name a folder of solved whole games; {MAKE}")
    inside = [folder] if (folder / MANIFEST).exists() else sorted(folder.iterdir())
    games = [
        path for path in inside if (path / MANIFEST).exists() and folder_kind(path) == "unified"
    ]
    if not games:
        raise InputError(f"{folder} holds no solved whole game; {MAKE}")
    return load_games(games)


def load_games(folders: Sequence[Path]) -> tuple[SolvedGame, ...]:
    """The whole games of these folders; equal names get the name of the folder above."""
    names = [folder.absolute().name for folder in folders]
    games = tuple(
        SolvedGame(
            name if names.count(name) == 1 else f"{folder.absolute().parent.name}/{name}",
            load_unified(folder),
            (folder / MANIFEST).read_text(encoding="utf-8"),
            folder,
        )
        for folder, name in zip(folders, names, strict=True)
    )
    playable = tuple(game for game in games if game.solution.at().actor is not None)
    if not playable:
        raise InputError("these games have no decisions: the blinds put both players all-in")
    return playable


def nearest_game(games: tuple[SolvedGame, ...], hand: PlayedHand) -> SolvedGame:
    """The nearest game: by its actions before the flop, its stack and its pot.

    Stacks and pots (antes and blinds) are compared by their ratios. A push-or-fold game counts as
    `ALL_IN_ONLY` further away, and `UNLIKE` more if the hand has a limp or a small raise.
    """
    stack, ante = float(hand.stack), float(max(hand.antes))
    before = [moment for moment in hand.moments() if moment.action.street == Street.PREFLOP]

    def distance(game: SolvedGame) -> tuple[float, float]:
        if stack <= 0:
            return inf, -game.stack
        posted = [1.5 + 2 * each for each in (game.ante, ante)]
        away = abs(log(game.stack / stack)) + abs(log(posted[0] / posted[1]))
        away += ALL_IN_ONLY if game.is_push_or_fold else 0.0
        away += 0.0 if all(game.has_kind(moment) for moment in before) else UNLIKE
        return away, -game.stack

    return min(games, key=distance)


def distance_notes(game: SolvedGame, hand: PlayedHand) -> tuple[str, ...]:
    """Differences between the preflop game and the played one; empty: none."""
    stack, ante = float(hand.stack), float(max(hand.antes))
    notes = []
    if abs(game.stack - stack) > 0.005 * stack:
        notes.append(
            f"played {stack:.4g} bb deep, graded before the flop at {game.stack:.4g} bb "
            f"({100 * (game.stack / stack - 1):+.0f} %)"
        )
    if abs(game.ante - ante) > 0.005:
        notes.append(f"played with an ante of {ante:.3g} bb, the solution has {game.ante:.3g}")
    if game.is_push_or_fold:
        notes.append("the solution is push or fold, without limps and small raises")
    small = game.solution.rules.small_blind / CHIPS_PER_BB
    posted = float(hand.blinds[1])
    if stack > 1 and abs(small - posted) > 0.1:
        notes.append(f"played with a small blind of {posted:.3g} bb, the solution has {small:.3g}")
    if has_other_rake(game.solution.rules, hand):
        rake = game.solution.rules.rake
        notes.append(
            f"played with a rake of {100 * hand.rake_share:.2g} % of the pot, the solution has "
            + (f"{100 * rake:.2g} %" if rake else "none")
        )
    return tuple(notes)


def has_other_rake(rules: PreflopRules, hand: PlayedHand) -> bool:
    """Whether the history shows a rake that is not the one of the rules."""
    pot, cap = float(hand.pot) * CHIPS_PER_BB, rules.rake_cap
    taken = min(rules.rake * pot, inf if cap is None else cap) / CHIPS_PER_BB
    return bool(hand.rake) and abs(float(hand.rake) - taken) > SMALL_RAKE * float(hand.pot)


def load_playable(
    folder: Path, *, drafts: bool = False, announce: Callable[[str], None] | None = None
) -> Solution:
    """A solved spot or whole game; an `InputError` for what cannot be played.

    With `drafts` a whole game is played on every flop with real cards (`DraftedFlops`).
    """
    folder = mirrored(folder).resolve()
    solution = load(folder)
    if isinstance(solution, SpotSet):
        example = next((entry.folder for entry in solution.entries), "…")
        raise InputError(
            f"{folder} contains spots that were solved together: practise with one of them, "
            f"{folder / example}"
        )
    if solution.unit.name == "pot":
        raise InputError(MODELS.format(folder=folder))
    if solution.at().kind == "end":
        raise InputError(f"{folder} has no decisions: both players are all-in")
    if drafts:
        game = solution.as_game
        if game is None:
            raise InputError(f"{folder} is not a whole game: only flops of whole games are drafted")
        game.exact_flops = DraftedFlops(folder, game, announce)
    return solution


def bb_chips(solution: Solution) -> float:
    """Chips in a big blind; 1 if the solution does not give it."""
    return solution.chips_per_bb or 1.0


def practice_note(solution: Solution) -> str:
    """A note for players on a solution; "": none."""
    return NO_BIG_BLIND if solution.chips_per_bb is None else solution.limits


def seen_pots(solution: Solution) -> dict[int, str]:
    """The nodes that see a flop, with their kinds; empty: no pot does, or it is a spot."""
    return {pot.node: pot.kind for pot in flop_pots(solution.tree(solution.start))}


def pot_kind(solution: Solution, position: Position) -> str:
    """The kind of pot by the raises before the flop: "unopened", "limped", …, or "spot"."""
    tree = solution.tree(solution.start)
    if tree.first_street > Street.PREFLOP:
        return SPOT
    path = tree.path_to(position.node if position.root is None else position.root)
    actions = [tree.actions[node] for node in path[1:]]
    raises = sum(action is not None and action.is_aggressive for action in actions)
    return POT_KINDS[min(raises, len(POT_KINDS) - 1)] if actions else UNOPENED


def won_bb(solution: Solution, position: Position) -> Floats:
    """[2, 3]: the winnings of OOP and IP at the end of a hand in big blinds, by `Outcome`.

    Chips put in since the solution starts count as lost. Results of a spot are relative to half
    of its starting pot, which neither player has put in since.
    """
    tree = solution.tree(solution.start)
    share = tree.pot / 2 if tree.first_street > Street.PREFLOP else 0.0
    won: Floats = (solution.payoffs(position)[position.node] + share) / bb_chips(solution)
    return won


class DraftedFlops:
    """The flops of a game with real cards, each drafted when it is first needed.

    A draft is kept beside the game, as by `allstreets solve --from --draft`: it is reused the next
    time, and in the explorer. Its turns and rivers are solved when play gets there.

    `announce` is called before a flop is drafted.
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
        """Look for flops solved meanwhile."""
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
