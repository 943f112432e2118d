"""Locks on solutions of a library, and answers to players who deviate.

A lock is solved like any other solution, and compared. Best responses to locks, to HUD numbers and
to other solutions are found at once, while a page waits.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock as Mutex
from typing import Any

from allstreets.analysis import (
    NUMBERS,
    Exploit,
    GameExploit,
    GamePlay,
    HudEntry,
    HudLocks,
    LockRequest,
    ask,
    decisions_of,
    difference,
    gain_text,
    hud_locks,
    hud_seat,
    part_text,
    read_hud,
    with_locks,
)
from allstreets.base import InputError
from allstreets.betting import Player, any_cards
from allstreets.explorer.folders import LastOpened
from allstreets.explorer.library import Library
from allstreets.explorer.models import solves as messages
from allstreets.explorer.models.base import (
    PLAYER_NAMES,
    BusyError,
    MissingError,
    by_player,
)
from allstreets.explorer.models.params import Line, SolutionId
from allstreets.explorer.simplifying import require_quick
from allstreets.explorer.solves.flops import spot_form
from allstreets.explorer.solves.games import game_form
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.views.view import read_facts
from allstreets.games import Bound, Lock, read_bounds, spot_mapping
from allstreets.jobs import ExploitJob, Opponent, lock_game, lock_spot_config
from allstreets.solutions import CHIPS, Solution, SpotSolution, WholeSolution
from allstreets.storage import folder_kind, load_spot, load_unified

SIGNS = {"at_most": "<=", "at_least": ">=", "exactly": ""}
WORDS = {"at_most": "at most", "at_least": "at least", "exactly": "exactly"}


class Locking:
    """Any number of threads may use it."""

    def __init__(self, library: Library, solves: Solves) -> None:
        self._library, self._solves = library, solves
        self._mutex = Mutex()
        # For the holder of the mutex.
        self._spots, self._games = LastOpened(load_spot), LastOpened(load_unified)

    def start(self, solution: SolutionId, form: messages.LockForm) -> messages.Solve:
        """Lock a decision of a spot, and solve it again around that."""
        folder = self._library.folder(solution)
        name = self._library.detail(solution).name
        source = messages.LockedSource(folder=str(folder.absolute()), line=form.line)
        with self._mutex:
            title = f"{name}: {lock_words(self._open(folder), form)}"[:200]
            request = lock_request(self._open(folder), form)
            source = source.model_copy(
                update={"asked": _asked(request), "same_range": request.same_range}
            )
            if folder_kind(folder) == "unified":
                game = self._games.open(folder)
                locks = request.of_game(game, source.folder)
                trained = lock_game(folder, game, locks, None).config
                return self._solves.train(game_form(trained, title), source)
            result = self._spots.open(folder)
            spot = with_locks(result.spot, locks_of(result, form))
            _ = spot.locked_nodes  # errors are raised now
        config = lock_spot_config(folder, result)
        target = 100 * config.exploitability_threshold
        described = spot_form(spot, title, target, config.precision, config.river_groups)
        source = source.model_copy(update={"spot": spot_mapping(spot)})
        return self._solves.start(described, locked=source)

    def difference(self, solution: SolutionId, line: Line = "") -> messages.SolutionDifference:
        """A solution with a lock beside its original."""
        folder = self._library.folder(solution)
        known: dict[str, Any] | None = read_facts(folder)[1].get("before")
        if known is None:
            raise MissingError("this solution was not made by a lock on another one")
        before = Path(str(known["folder"]))
        other = self._library.id_of(before)
        name = self._library.detail(other).name  # raises an error if it is gone
        with self._mutex:
            asked = [Bound.read(**each, where="the lock") for each in known.get("asked", ())]
            change = difference(self._open(before), self._open(folder), [line], asked)
        node = change.places[0] if change.places else None
        return messages.SolutionDifference.of(
            change,
            before=other,
            name=name,
            line=line,
            here=None if node is None else by_player(node.evs),
            actions=()
            if node is None
            else [messages.ActionChange.of(one, asked=one.asked_text) for one in node.actions],
            moved="" if node is None else node.moved,
            text=gain_text(change),
        )

    def _open(self, folder: Path) -> SpotSolution | WholeSolution:
        """The spot or the whole game in a folder."""
        kind = folder_kind(folder)
        if kind == "unified":
            return self._games.open(folder)
        if kind != "spot":
            raise MissingError("only spots and whole games can be locked, and this is neither")
        return self._spots.open(folder)


def _asked(request: LockRequest) -> tuple[messages.AskedFrequency, ...]:
    """The frequencies that a lock asks for."""
    return tuple(
        messages.AskedFrequency(line=bound.line, action=bound.action, frequency=bound.text)
        for bound in request.bounds
    )


def locks_of(result: SpotSolution, form: messages.LockForm) -> tuple[Lock, ...]:
    """The locks of a spot that a form asks for."""
    if form.way == "as_is" and form.everywhere:
        raise InputError("'as it is now' differs from card to card: lock one board")
    return lock_request(result, form).of_spot(result)


def lock_request(result: Solution, form: messages.LockForm) -> LockRequest:
    """The lock that a form asks for."""
    return replace(_lock_request(result, form), same_range=form.same_range)


def _lock_request(result: Solution, form: messages.LockForm) -> LockRequest:
    if form.way == "hud":
        return LockRequest(bounds=_hud(result, form).bounds)
    line = _line(result, form)
    if form.way in SIGNS:
        frequency = f"{SIGNS[form.way]}{form.percent!r}%"
        return LockRequest(bounds=(Bound.read(line, form.action, frequency, "the lock"),))
    if form.way == "observed":
        return LockRequest(bounds=tuple(read_bounds(form.text, "frequencies")))
    if form.way == "always":
        return LockRequest(line, always=form.action)
    if form.way == "as_is":
        return LockRequest(line, as_is=True)
    if not form.hands:
        raise InputError("paint the hands to lock first")
    return LockRequest(line, hands=((",".join(form.hands), form.action),))


def _hud(result: Solution, form: messages.LockForm) -> HudLocks:
    """The HUD numbers of a form as frequencies of decisions."""
    game = result.as_game
    if game is None:
        raise InputError("HUD numbers count decisions of whole games")
    asked = read_hud(form.text, "the numbers")
    opponent = None if form.opponent is None else Player(PLAYER_NAMES.index(form.opponent))
    return hud_locks(game, asked, hud_seat(game.game, asked, opponent))


def lock_words(result: Solution, form: messages.LockForm) -> str:
    """A lock in a few words: "IP at x: bet 33 at most 30 %"."""
    if form.way == "observed":
        return "observed frequencies"
    if form.way == "hud":
        return "HUD numbers"
    node = result.at(form.line).decision
    label = dict(zip(node.actions, node.labels, strict=True)).get(form.action, form.action)
    if form.way in WORDS:
        what = f"{label} {WORDS[form.way]} {form.percent:g} %"
    elif form.way == "always":
        what = f"always {label}"
    elif form.way == "as_is":
        what = "as it was"
    else:
        some = ",".join(form.hands[:3]) + (",…" if len(form.hands) > 3 else "")
        what = f"{label} with {some}"
    where = _line(result, form) or "first decision"
    return f"{node.seat} at {where}: {what}"


def _line(result: Solution, form: messages.LockForm) -> str:
    """The line of a form, with any cards where requested; locks of games always have any cards."""
    everywhere = form.everywhere or result.unit != CHIPS
    return any_cards(result.at(form.line).line) if everywhere else form.line


class Exploiting:
    """One best response is computed at a time; that of a whole game is kept for other places."""

    def __init__(self, library: Library) -> None:
        self._library, self._mutex = library, Mutex()
        # For the holder of the mutex.
        self._spots, self._games = LastOpened(load_spot), LastOpened(load_unified)
        self._latest: tuple[WholeSolution, messages.ExploitForm, GameExploit, str] | None = None

    def find(self, solution: SolutionId, form: messages.ExploitForm) -> messages.Exploited:
        """The best response to an opponent, at the current place."""
        with self._turn(solution) as folder:
            opened = self._open(folder)
            opponent = self._opponent(opened, form)
            if isinstance(opened, SpotSolution):
                return message(self._at_spot(folder, opened, opponent, form.line))
            best, line = self._game(folder, opened, opponent, form)
            with suppress(InputError):  # another player acts here, or the flop is not stored
                return message(best.at(form.line))
            return message(best.at(line))

    def _game(
        self, folder: Path, opened: WholeSolution, opponent: Opponent, form: messages.ExploitForm
    ) -> tuple[GameExploit, str]:
        """The best response, known from another place or computed now, and a line to show."""
        line = self._line(form)
        key = form.model_copy(update={"line": line or ""})
        known = self._latest
        if known is None or known[0] is not opened or known[1] != key:
            self._latest = known = opened, key, *ExploitJob(folder, opened, opponent, line).game()
        return known[2], known[3]

    def numbers(self, solution: SolutionId) -> list[messages.HudNumber]:
        """The HUD numbers for which the game has decisions, with their frequencies in it."""
        with self._turn(solution) as folder:
            opened = self._open(folder)
            if isinstance(opened, SpotSolution):
                return []
            plays = [GamePlay(opened, player) for player in Player]
            listed = []
            for number in NUMBERS:
                for play in plays:
                    decisions = decisions_of(opened.game, number, play.player)
                    after_flop = any(target.root is not None for target in decisions.targets)
                    if not decisions.targets or (after_flop and not opened.has_flops):
                        continue
                    listed.append(
                        messages.HudNumber.of(
                            number,
                            player=PLAYER_NAMES[play.player],
                            decisions=[target.line for target in decisions.targets],
                            now=play.frequency(decisions.counted)[0],
                        )
                    )
            return listed

    def _opponent(
        self, opened: SpotSolution | WholeSolution, form: messages.ExploitForm
    ) -> Opponent:
        request = None if form.lock is None else lock_request(opened, form.lock)
        hud: list[HudEntry] = [
            ask(name, text, name) for name, text in form.hud.items() if text.strip()
        ]
        if form.hud_text.strip():
            hud += read_hud(form.hud_text, "the file")
        against = None if form.against is None else self._library.folder(form.against)
        seat = None if form.opponent is None else Player(PLAYER_NAMES.index(form.opponent))
        return Opponent(request, tuple(hud), against, seat)

    def _line(self, form: messages.ExploitForm) -> str | None:
        """The line that determines who best responds, where nothing else does."""
        if form.lock is not None or form.hud or form.hud_text.strip() or form.opponent is not None:
            return None
        return form.line

    def _at_spot(
        self, folder: Path, opened: SpotSolution, opponent: Opponent, line: str
    ) -> Exploit:
        """The current place if the responding player acts there, else the place before it."""
        if opponent.request is not None:
            target = opened.lock_target(opponent.request.lines[0], "the lock")
            here = opened.at(line)
            locked = target.tree.player_at(target.node)
            if here.kind == "decision" and here.decision.player != locked:
                return ExploitJob(folder, opened, opponent, line).run().exploit
            return ExploitJob(folder, opened, opponent).run().exploit
        return ExploitJob(folder, opened, opponent, line).run().exploit

    def _open(self, folder: Path) -> SpotSolution | WholeSolution:
        kind = folder_kind(folder)
        if kind == "unified":
            return self._games.open(folder)
        if kind != "spot":
            raise MissingError("best responses are for spots and whole games, and this is neither")
        return self._spots.open(folder)

    @contextmanager
    def _turn(self, solution: str) -> Iterator[Path]:
        folder = self._library.folder(solution)
        require_quick(self._library.card(solution), f"allstreets lock {folder} --exploit")
        if not self._mutex.acquire(blocking=False):
            raise BusyError("another best response is being computed: try again when it is done")
        try:
            yield folder
        finally:
            self._mutex.release()


def message(exploit: Exploit) -> messages.Exploited:
    """A best response as a message."""
    return messages.Exploited.of(
        exploit,
        on_flops="*" in exploit.line,
        total=exploit.total,
        held=[held.text for held in exploit.held],
        sentences=exploit.sentences()[len(exploit.held) :],
        advice=exploit.advice(),
        actions=[
            messages.ExploitAction(word=word, label=label, now=now, best=best)
            for word, label, now, best in zip(
                exploit.actions, exploit.labels, exploit.now, exploit.best, strict=True
            )
        ],
        hands=[messages.ExploitHand.of(hand) for hand in exploit.hands],
        parts=[messages.ExploitPart.of(part, text=part_text(part)) for part in exploit.parts],
    )
