"""Reviewing many hands as a job: each is kept when it is done, and found again by the next run."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from allstreets.base import Control, InputError, cache_folder, duration, interrupt_request, shorten
from allstreets.betting import Player
from allstreets.games import data_hash
from allstreets.interop import HandFiles, PlayedHand, Skipped, read_hands
from allstreets.jobs import CountProgress
from allstreets.study.games import SolvedGame, nearest_game, open_games
from allstreets.study.grading import GradedDecision
from allstreets.study.review_folder import HandReview, IndexedHand, ReviewFolder, ReviewIndex
from allstreets.study.review_hand import review_hand
from allstreets.study.review_streets import Effort, StoppedError

VERSION = 3  # of what is kept: a change that alters reviews takes the next number
LINE_SECONDS = 10.0  # between two lines of progress, where there is no terminal
NO_HERO = "nobody's cards are shown as his own: name the player with --hero"


@dataclass(frozen=True)
class ReviewProgress:
    """The progress of a review."""

    done: int  # hands, those of earlier runs included
    total: int
    before: int  # hands that were kept by earlier runs
    hand: str | None  # reviewed last
    loss_bb: float  # of all hands so far
    seconds: float  # of this run
    paused: bool = False

    @property
    def eta_seconds(self) -> float | None:
        """Seconds that are left, by the mean of the hands of this run."""
        reviewed = self.done - self.before
        return self.seconds / reviewed * (self.total - self.done) if reviewed else None


def _figures(progress: ReviewProgress) -> list[str]:
    reviewed = progress.done - progress.before
    parts = [f"{progress.before:,} kept from before"] if progress.before else []
    if reviewed and progress.seconds > 0:
        parts.append(f"{60 * reviewed / progress.seconds:.3g} hands a minute")
        if progress.done < progress.total:
            parts.append(f"ETA {duration(progress.eta_seconds)}")
    parts.append(f"{progress.loss_bb:.2f} bb lost")
    if progress.hand is not None and progress.done < progress.total:
        parts.append(progress.hand)
    return parts


REVIEW_PROGRESS = CountProgress("hands", _figures, LINE_SECONDS)
show_review_progress, review_line = REVIEW_PROGRESS.shown, REVIEW_PROGRESS.line
ReviewObserver = Callable[[ReviewProgress], None]


@dataclass(frozen=True)
class Review:
    """All hands that are reviewed, and those that are not."""

    hands: tuple[HandReview, ...]
    skipped: tuple[Skipped, ...]
    total: int  # hands that were to be reviewed
    output: Path

    @property
    def decisions(self) -> list[tuple[HandReview, GradedDecision]]:
        """All decisions, each with its hand."""
        return [(hand, made) for hand in self.hands for made in hand.decisions]

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it before the last hand."""
        return len(self.hands) < self.total


@dataclass(frozen=True, eq=False)
class ReviewJob:
    """Hands, whose decisions in them are graded, and by what."""

    hands: tuple[tuple[PlayedHand, Player], ...]
    skipped: tuple[Skipped, ...]
    games: tuple[SolvedGame, ...]
    effort: Effort
    seed: int
    output: Path
    name: str = ""
    hero: str | None = None

    def run(
        self, observers: Sequence[ReviewObserver] = (), control: Control | None = None
    ) -> Review:
        """Review what is missing; an interrupted run returns what is done.

        Signals stop it, or `control` does, which may also let it wait between two hands.
        """
        doing = "keeping the hands that are done"
        in_charge: AbstractContextManager[Control] = (
            interrupt_request(doing, "the hand at work")
            if control is None
            else nullcontext(control)
        )
        self.folder.write(self.index)
        with in_charge as request:
            effort = replace(self.effort, stop=request.wants_to_stop)
            kept = [self.folder.hand(indexed) for indexed in self.index.hands]
            before, began = sum(kept_review is not None for kept_review in kept), time.monotonic()
            lost = sum(kept_review.loss_bb for kept_review in kept if kept_review is not None)
            reviews: list[HandReview] = []
            fresh = 0

            def report(hand: str | None, *, paused: bool = False) -> None:
                seconds, total = time.monotonic() - began, len(self.hands)
                progress = ReviewProgress(
                    before + fresh, total, before, hand, lost, seconds, paused
                )
                for observer in observers:
                    observer(progress)

            request.hold()
            report(None)
            for (hand, hero), indexed, known in zip(
                self.hands, self.index.hands, kept, strict=True
            ):
                if known is not None:
                    reviews.append(known)
                    continue
                if request.is_paused():
                    since = time.monotonic()
                    report(None, paused=True)
                    request.wait_while_paused()
                    began += time.monotonic() - since
                    report(None)
                if request.wants_to_stop():
                    continue  # hands that an earlier run has kept count, wherever they stand
                game = nearest_game(self.games, hand)
                try:
                    review = review_hand(hand, hero, game, effort, self.seed)
                except StoppedError:
                    continue
                self.folder.keep(indexed.key, review)
                reviews.append(review)
                fresh, lost = fresh + 1, lost + review.loss_bb
                report(hand.label)
        return Review(tuple(reviews), self.skipped, len(self.hands), self.output)

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
        """The name of a hand's review: by all that it depends on."""
        game = nearest_game(self.games, hand)
        facts = [
            VERSION,
            repr(replace(hand, file="", line=0)),
            int(hero),
            game.name,
            game.identity,
            self.effort.target,
            self.effort.seconds,
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
) -> ReviewJob:
    """Choose whose decisions are graded: those of `hero`, or of who wrote the hand down."""
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
        tuple(hands), tuple(skipped), games, effort or Effort(), seed, folder, name, hero
    )


def review_hands(
    hands: Iterable[Path | str] | Path | str,
    solutions: Path | str,
    hero: str | None = None,
    *,
    target: float = 0.001,
    seconds_per_spot: float = 20.0,
    threads: int | None = None,
    seed: int = 1,
    output: Path | str | None = None,
    observers: Sequence[ReviewObserver] = (),
) -> Review:
    """Review hand histories by the whole games in a folder; what was reviewed before is kept."""
    paths: Iterable[Any] = [hands] if isinstance(hands, Path | str) else hands
    job = plan_review(
        read_hands(paths),
        open_games(Path(solutions)),
        hero,
        effort=Effort(target, seconds_per_spot, threads),
        seed=seed,
        output=None if output is None else Path(output),
    )
    review = job.run(observers)
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
        return None, "there was nothing to decide"
    return seat, ""
