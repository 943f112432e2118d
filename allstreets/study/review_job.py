"""The review of hands: of one, decision by decision through its streets; of many, as a job.

Each hand is stored when it is done, and reused by the next run.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from allstreets.base import (
    Control,
    Floats,
    InputError,
    cache_folder,
    duration,
    interrupt_request,
    processors,
    shorten,
)
from allstreets.betting import Player, Street
from allstreets.cards import cards_text, combo_index
from allstreets.games import data_hash
from allstreets.interop import Amounts, HandFiles, Moment, PlayedHand, Skipped, read_hands
from allstreets.jobs import (
    NO_CALLBACKS,
    Callbacks,
    Executor,
    Observer,
    Plan,
    Progress,
    Tally,
    in_order,
    on_this_machine,
    piece_control,
)
from allstreets.solutions import Node
from allstreets.study.games import SolvedGame, distance_notes, load_games, nearest_game, open_games
from allstreets.study.grading import (
    NEVER,
    SHADE,
    GradedDecision,
    share_text,
    weight_of,
    within,
)
from allstreets.study.played_actions import (
    Draws,
    Mapped,
    bare_decision,
    graded_as,
    map_action,
    played_word,
    pot_kind,
)
from allstreets.study.review_folder import (
    DIGITS,
    HandReview,
    IndexedHand,
    ReviewFolder,
    ReviewIndex,
)
from allstreets.study.review_streets import Effort, follow_postflop
from allstreets.study.tables import Review

LEAST_REACH = 1e-5  # of a range's largest weight: less is left over from the first iterations


def review_hand(
    hand: PlayedHand, hero: Player, game: SolvedGame, effort: Effort, seed: int = 1
) -> HandReview:
    """Grade every decision of the hero with a whole game and with spots solved for it."""
    hole = hand.holes[hero]
    if hole is None:
        raise InputError(f"{hand.label}: the cards of {hand.players[hero]} are not known")
    draws = Draws(seed, hand.label)
    arrival = follow_preflop(hand, hero, game, draws)
    decisions = list(arrival.decisions)
    if arrival.ranges is not None:
        decisions += follow_postflop(hand, hero, game, arrival.node, arrival.ranges, effort, draws)
    else:
        decisions += [
            bare_decision(hand, moment, arrival.why)
            for moment in hand.moments()
            if moment.action.street > Street.PREFLOP and moment.action.player == hero
        ]
    oop, ip = ("" if cards is None else cards_text(cards) for cards in hand.holes)
    return HandReview(
        name=hand.label,
        file=hand.file,
        line=hand.line,
        hero=hand.players[hero],
        seat=hero.seat,
        cards=cards_text(sorted(hole, reverse=True)),
        players=hand.players,
        holes=(oop, ip),
        stacks_bb=_bb(hand.stacks),
        antes_bb=_bb(hand.antes),
        blinds_bb=_bb(hand.blinds),
        board=cards_text(hand.board),
        actions=tuple(
            (action.street.text, action.player.seat, played_word(action)) for action in hand.actions
        ),
        results_bb=_bb(hand.results),
        kind=pot_kind(hand),
        solution=game.name,
        solution_stack_bb=game.stack,
        stack_bb=round(float(hand.stack), DIGITS),
        notes=distance_notes(game, hand),
        decisions=tuple(decisions),
    )


def _bb(amounts: Amounts) -> tuple[float, float]:
    return round(float(amounts[0]), DIGITS), round(float(amounts[1]), DIGITS)


@dataclass(frozen=True)
class Arrival:
    """The end of the betting before the flop."""

    decisions: tuple[GradedDecision, ...]
    node: Node  # where the flop is dealt or the hand is over
    ranges: tuple[Floats, Floats] | None  # [1326] of OOP and IP; None: not known
    why: str  # why they are not known


def follow_preflop(hand: PlayedHand, hero: Player, game: SolvedGame, draws: Draws) -> Arrival:
    """Grade the hero's decisions before the flop, and find the ranges that see it."""
    hole = hand.holes[hero]
    assert hole is not None
    node, combo, why = game.solution.at(), combo_index(*hole), ""
    decisions: list[GradedDecision] = []
    for moment in hand.moments():
        if moment.action.street != Street.PREFLOP:
            break
        mapped = None
        if not why:
            mapped = map_action(node.tree, node.index, moment, draws.at(moment.place))
            why = _off_tree(game, node, moment, mapped)
        if moment.action.player == hero:
            bare = bare_decision(hand, moment, why)
            decisions.append(
                bare if why or mapped is None else _graded(bare, game, node, combo, mapped)
            )
        if not why and mapped is not None:
            node = node.children[mapped.place]
    if why:
        return Arrival(tuple(decisions), node, None, why)
    return Arrival(tuple(decisions), node, *_ranges(node))


def _off_tree(game: SolvedGame, node: Node, moment: Moment, mapped: Mapped | None) -> str:
    """The reason why the solution lacks a decision of the hand; "" if it has it."""
    player = moment.action.player
    if node.actor is None:
        return "the solution has nothing left to decide here: its sizes have led to an all-in"
    if node.actor != player:
        return f"{NEVER}: there it is {node.seat}'s turn"
    if not game.has_kind(moment):
        return f"{NEVER}: it is push or fold, and has no '{played_word(moment.action)}'"
    if mapped is None:
        word = played_word(moment.action)
        return f"{NEVER}: it has no '{word}' of {player.seat} there, nor a similar one"
    return ""


def _graded(
    bare: GradedDecision, game: SolvedGame, node: Node, combo: int, mapped: Mapped
) -> GradedDecision:
    decision, worth = node.decision, game.exploitability
    return graded_as(
        bare,
        mapped,
        decision,
        combo,
        outside=decision.reached and weight_of(decision, combo) < SHADE,
        within_bb=None if worth is None else within(worth / 1000, decision.share),
        evaluated_by=f"the solution before the flop{game.worth_text}",
    )


def _ranges(node: Node) -> tuple[tuple[Floats, Floats] | None, str]:
    """Both ranges at a node before the flop, by combo, or the reason why there are none."""
    ranges = node.ranges
    if not ranges.reached:
        shares = ranges.line_reach.shares
        least = Player(int(np.argmin(shares)))
        return (
            None,
            f"{NEVER}: {least.seat} plays this with {share_text(shares[least])} of his hands",
        )
    oop, ip = (ranges.combo_weights(player) for player in Player)
    return (_trimmed(oop / oop.max()), _trimmed(ip / ip.max())), ""


def _trimmed(weights: Floats) -> Floats:
    return np.where(weights >= LEAST_REACH, weights, 0.0)


VERSION = 5  # of stored reviews: a change that alters them takes the next number
NAMED = 4  # games
MANY = 8  # hands that justify another process
NO_HERO = "the history does not show whose hand it is: name the player with --hero"


@dataclass(frozen=True)
class ReviewedSoFar:
    """The latest reviewed hand, and the loss of all hands so far."""

    hand: str | None
    loss_bb: float


def review_figures(progress: Progress) -> list[str]:
    """The figures beside the count: pace, remaining time, loss so far, and the latest hand."""
    reviewed, so_far = progress.done - progress.before, progress.latest
    parts = [f"{progress.before:,} kept from before"] if progress.before else []
    if reviewed and progress.seconds > 0:
        parts.append(f"{60 * reviewed / progress.seconds:.3g} hands a minute")
        if not progress.ended:
            parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(f"{so_far.loss_bb:.2f} bb lost")
    if so_far.hand is not None and not progress.ended:
        parts.append(so_far.hand)
    return parts


@dataclass(frozen=True)
class ReviewPiece:
    """A hand, and the player whose decisions are graded."""

    hand: PlayedHand
    hero: Player

    @property
    def name(self) -> str:
        """The hand, in words."""
        return self.hand.label


@dataclass(frozen=True, eq=False)
class ReviewPieces:
    """Reviews a hand with the nearest of some games; another process opens them itself."""

    games: tuple[SolvedGame, ...]
    effort: Effort
    seed: int

    def __call__(self, piece: ReviewPiece) -> HandReview:
        """The hand with its decisions graded."""
        effort = replace(self.effort, stop=piece_control().wants_to_stop)
        game = nearest_game(self.games, piece.hand)
        return review_hand(piece.hand, piece.hero, game, effort, self.seed)

    def __reduce__(self) -> tuple[Any, ...]:
        folders = tuple(game.folder for game in self.games)
        return _review_pieces, (folders, self.effort, self.seed)


@lru_cache(1)
def _review_pieces(folders: tuple[Path, ...], effort: Effort, seed: int) -> ReviewPieces:
    return ReviewPieces(load_games(folders), effort, seed)


@dataclass(frozen=True, eq=False)
class ReviewJob:
    """Hands, the graded player, and the solutions."""

    hands: tuple[tuple[PlayedHand, Player], ...]
    skipped: tuple[Skipped, ...]
    games: tuple[SolvedGame, ...]
    effort: Effort
    seed: int
    output: Path
    name: str = ""
    hero: str | None = None
    processes: int | None = None  # hands at a time; None: by their number, and by the cores
    executor: Executor | None = None  # instead of these

    def plan(self) -> Plan:
        """The number of hands, the solutions, and the longest time."""
        missing = len(self.hands) - self.folder.done(self.index)
        if not self.hands:
            return Plan(())
        at_once = self._at_once(missing)
        side_by_side = f", {at_once} at a time" if at_once > 1 else ""
        names = [game.name for game in self.games]
        games = ", ".join(names) if len(names) <= NAMED else f"{len(names)} games"
        line = f"{missing:,} of {len(self.hands):,} hands to review by {games}{side_by_side}"
        return Plan((line,), kernels="review")

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> Review:
        """Review the missing hands; an interrupted run returns the finished ones.

        Signals stop it, or a control, which may also pause it between two hands.
        """
        control = callbacks.control
        in_charge: AbstractContextManager[Control] = (
            interrupt_request("keeping the hands that are done", "the hand in progress")
            if control is None
            else nullcontext(control)
        )
        if self.hands:
            callbacks.begin()
        self.folder.write(self.index)
        with in_charge as request:
            kept = (self.folder.hand(indexed) for indexed in self.index.hands)
            reviews = {number: hand for number, hand in enumerate(kept) if hand is not None}
            left = [number for number in range(len(self.hands)) if number not in reviews]
            loss, latest = sum(hand.loss_bb for hand in reviews.values()), None
            tally = Tally(
                "hands", len(self.hands), len(reviews), callbacks.progress, figures=review_figures
            )

            def tell(**facts: Any) -> None:
                tally.tell(len(reviews), ReviewedSoFar(latest, loss), **facts)

            def keep(number: int, review: HandReview) -> None:
                nonlocal loss, latest
                self.folder.keep(self.index.hands[left[number]].key, review)
                reviews[left[number]] = review
                loss, latest = loss + review.loss_bb, review.name
                tell()

            def wait() -> None:
                if request.is_paused():
                    tell(paused=True)
                    tally.wait(request)
                    tell()

            request.hold()
            tell()
            wait()
            at_once = self._at_once(len(left))
            self._executor(at_once).map(
                ReviewPieces(self.games, self.effort.shared(at_once), self.seed),
                [ReviewPiece(*self.hands[number]) for number in left],
                keep,
                control=request,
                on_tick=wait,
            )
        return Review(in_order(reviews), self.skipped, len(self.hands), self.output)

    def _at_once(self, missing: int) -> int:
        """Hands that are reviewed at a time."""
        if self.executor is not None:
            return self.executor.at_once
        cores = max(1, processors() // (self.effort.threads or 1))
        return max(1, min(self.processes or min(cores, missing // MANY), missing))

    def _executor(self, at_once: int) -> Executor:
        """Other processes for several hands at a time."""
        if self.executor is not None:
            return self.executor
        opened = all(game.folder is not None for game in self.games)
        return on_this_machine(at_once if opened else 1)

    @property
    def folder(self) -> ReviewFolder:
        """The folder that stores the review."""
        return ReviewFolder(self.output)

    @cached_property
    def index(self) -> ReviewIndex:
        """The index of the review: its name, solutions, settings and hands."""
        return ReviewIndex(
            name=self.name,
            hero=self.hero,
            created=time.time(),
            target=self.effort.target,
            seconds_per_spot=self.effort.seconds,
            solutions={
                game.name: str(game.folder.absolute()) for game in self.games if game.folder
            },
            hands=tuple(
                IndexedHand(self._key(hand, hero), hand.file, hand.line)
                for hand, hero in self.hands
            ),
            skipped=self.skipped,
        )

    def _key(self, hand: PlayedHand, hero: Player) -> str:
        """The name of a hand's review, by everything that it depends on."""
        game = nearest_game(self.games, hand)
        facts = [
            VERSION,
            repr(replace(hand, file="", line=0)),
            int(hero),
            game.name,
            game.identity,
            self.effort.target,
            self.effort.seconds,
            None if self.effort.draft is None else self.effort.draft.text,
            self.seed,
        ]
        return data_hash(facts)[:32]


def plan_review(
    found: HandFiles,
    games: tuple[SolvedGame, ...],
    hero: str | None = None,
    *,
    effort: Effort | None = None,
    seed: int = 1,
    output: Path | None = None,
    name: str = "",
    processes: int | None = None,
) -> ReviewJob:
    """Choose the graded decisions: those of `hero`, or of the player who recorded the hand."""
    hands: list[tuple[PlayedHand, Player]] = []
    skipped = list(found.skipped)
    for hand in found.hands:
        seat, why = _hero(hand, hero)
        if seat is None:
            skipped.append(Skipped(hand.file, hand.line, why, shorten(hand.name)))
        else:
            hands.append((hand, seat))
    if hero is not None and found.hands and not hands:
        names = sorted({name for hand in found.hands for name in hand.players})
        raise InputError(
            f"no hand shows the cards of '{shorten(hero)}'; players: "
            + shorten(", ".join(names[:8]))
            + (", …" if len(names) > 8 else "")
        )
    folder = cache_folder() / "review" if output is None else output
    return ReviewJob(
        tuple(hands), tuple(skipped), games, effort or Effort(), seed, folder, name, hero, processes
    )


def review_hands(
    hands: Iterable[Path | str] | Path | str,
    solutions: Path | str,
    hero: str | None = None,
    *,
    target: float = 0.001,
    seconds_per_spot: float = Effort.seconds,
    threads: int | None = None,
    seed: int = 1,
    output: Path | str | None = None,
    processes: int | None = None,
    observers: Sequence[Observer] = (),
) -> Review:
    """Review hand histories with the whole games in a folder; earlier reviews are reused."""
    paths: Iterable[Any] = [hands] if isinstance(hands, Path | str) else hands
    job = plan_review(
        read_hands(paths),
        open_games(Path(solutions)),
        hero,
        effort=Effort(target, seconds_per_spot, threads),
        seed=seed,
        output=None if output is None else Path(output),
        processes=processes,
    )
    review = job.run(Callbacks(progress=tuple(observers)))
    if review.interrupted:
        raise KeyboardInterrupt
    return review


def _hero(hand: PlayedHand, name: str | None) -> tuple[Player | None, str]:
    """The player whose decisions are graded in a hand, or the reason why none are."""
    seat = hand.viewer if name is None else hand.player_named(name)
    if seat is None:
        return None, NO_HERO if name is None else f"{shorten(name)} is not at the table"
    if hand.holes[seat] is None:
        return None, f"the cards of {shorten(hand.players[seat])} are not known"
    if not any(action.player == seat for action in hand.actions):
        return None, "there was no decision"
    return seat, ""
