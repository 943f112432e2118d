"""Hands in the Poker Hand History format (PHH), replayed by PokerKit.

A .phh file is one hand; a .phhs file has several, each under a header such as `[12]`, and is read
part by part so that a broken one does not take the others with it. PokerKit replays every action
and knows the rules; only the end of a hand, which the format leaves open, is completed.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from allstreets.base import InputError, shorten, shortened
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import parse_card
from allstreets.interop.played_hands import (
    Cards,
    HandError,
    Ledger,
    PlayedHand,
    amount_of,
    read_amount,
)

if TYPE_CHECKING:
    from pokerkit import HandHistory, State

HEADER = re.compile(r"^\s*\[(\w+)\]\s*$")
BEGINS = re.compile(r"^[ \t]*variant[ \t]*=", re.MULTILINE)
PLACE = re.compile(r" \(at (?:line (\d{1,9}), column \d{1,9}|end of document)\)$")
MOST_LETTERS = 50_000  # of a hand
MOST_DOTS = 2_000  # of a hand: the time for a key of many parts grows with their square
MOST_ACTIONS = 1_000  # deals and shown cards included
NO_LIMIT = "NT"
MISSING = "hands in PHH are read with PokerKit: install it with pip install 'allstreets[hands]'"
NAMES = {
    "FT": "limit hold'em",
    "NS": "short-deck hold'em",
    "PO": "Omaha",
    "FO/8": "Omaha hi-lo",
    "F7S": "stud",
    "F7S/8": "stud hi-lo",
    "FR": "razz",
    "N2L1D": "draw",
    "F2L3D": "draw",
    "FB": "badugi",
}


def is_phh(text: str) -> bool:
    """Whether a text whose name does not tell is PHH."""
    return BEGINS.search(text) is not None


def split_phh(text: str) -> Iterator[tuple[int, str, str]]:
    """(number of its first line, name, text) of every hand of a file."""
    lines = text.splitlines()
    heads = [
        (number, match[1]) for number, line in enumerate(lines) if (match := HEADER.match(line))
    ]
    if not heads:
        yield 1, "", text
        return
    for index, (number, header) in enumerate(heads):
        last = heads[index + 1][0] if index + 1 < len(heads) else len(lines)
        yield number + 1, f"Hand {header}", "\n".join(["", *lines[number + 1 : last]])


def read_phh(text: str) -> PlayedHand:
    """A hand; a `HandError` says why it is not one."""
    if len(text) > MOST_LETTERS or text.count(".") > MOST_DOTS:
        raise HandError(f"{len(text):,} letters are too many for one hand in PHH")
    fields = _fields(text)
    variant = _word(fields, "variant")
    if variant != NO_LIMIT:
        raise HandError(f"another game: {NAMES.get(variant, variant)}")
    stacks = _amounts(fields, "starting_stacks")
    if len(stacks) != len(Player):
        raise HandError(f"{len(stacks)} player{'s' * (len(stacks) != 1)}")
    history = _history(fields, stacks)
    ends = None if "finishing_stacks" not in fields else _amounts(fields, "finishing_stacks")
    return _hand(history, _replay(history), ends)


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of the file; amounts stay exact, so that 0.1 is a tenth."""
    try:
        return tomllib.loads(text, parse_float=read_amount)
    except RecursionError:
        raise HandError("lists are nested too deeply for a hand") from None
    except HandError:
        raise
    except ValueError as error:
        where = PLACE.search(str(error))
        line = int(where[1]) - 1 if where and where[1] else 0
        raise HandError(PLACE.sub("", str(error)), line) from None


def _history(fields: Mapping[str, Any], stacks: list[Fraction]) -> "HandHistory":
    """The hand for PokerKit, from only the fields that are needed."""
    try:
        from pokerkit import HandHistory
    except ModuleNotFoundError:
        raise InputError(MISSING) from None
    trimmed = fields.get("ante_trimming_status", False)
    if not isinstance(trimmed, bool):
        raise HandError("ante_trimming_status is true or false")
    return HandHistory(
        variant=NO_LIMIT,
        ante_trimming_status=trimmed,
        antes=_whole(_amounts(fields, "antes")),
        blinds_or_straddles=_whole(_amounts(fields, "blinds_or_straddles")),
        min_bet=_whole([_amount(fields, "min_bet")])[0],
        starting_stacks=_whole(stacks),
        actions=_words(fields, "actions", MOST_ACTIONS),
        players=_words(fields, "players", len(Player)) if "players" in fields else None,
        hand=_word(fields, "hand") if "hand" in fields else None,
    )


def _field(fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise HandError(f"'{name}' is missing")
    return fields[name]


def _word(fields: Mapping[str, Any], name: str) -> str:
    value = _field(fields, name)
    if isinstance(value, str):
        return shorten(value)
    return f"{amount_of(value)}"


def _words(fields: Mapping[str, Any], name: str, most: int) -> list[str]:
    values = _field(fields, name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise HandError(f"'{name}' is not a list of texts")
    if len(values) > most:
        raise HandError(f"'{name}' has {len(values):,} entries, more than {most:,}")
    return values


def _whole(amounts: list[Fraction]) -> list[Any]:
    """Whole chips as whole numbers, of which PokerKit gives the odd one to one player."""
    return [int(amount) if amount.denominator == 1 else amount for amount in amounts]


def _amount(fields: Mapping[str, Any], name: str) -> Fraction:
    try:
        return amount_of(_field(fields, name))
    except HandError as error:
        raise HandError(f"'{name}': {error.reason}") from None


def _amounts(fields: Mapping[str, Any], name: str) -> list[Fraction]:
    values = _field(fields, name)
    if not isinstance(values, list):
        raise HandError(f"'{name}' is not a list of amounts")
    try:
        return [amount_of(value) for value in values]
    except HandError as error:
        raise HandError(f"'{name}': {error.reason}") from None


def _replay(history: "HandHistory") -> "State":
    """The hand played to its end."""
    from pokerkit import parse_action

    with _refused("the table is impossible"):
        state = history.create_state()
    for number, action in enumerate(history.actions, 1):
        with _refused(f"action {number}, {shortened(action)}"):
            while state.can_burn_card():
                state.burn_card("??")
            parse_action(state, action, _value)
    with _refused("the end of the hand"):
        _finish(state)
    if state.status:
        raise HandError("it is cut off: the betting is not over")
    return state


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Steps of PokerKit: any error means that the hand cannot have been played this way."""
    try:
        with catch_warnings(action="ignore"):  # of cards that are gone: the ledger checks
            yield
    except Exception as error:
        raise HandError(f"{what}: {str(error) or 'it is impossible'}") from None


def _value(text: str) -> Any:
    return read_amount(text)


def _finish(state: "State") -> None:
    """Complete the steps that a file may leave out: cards after an all-in, and shown hands."""
    while state.status:
        if state.can_burn_card():
            state.burn_card("??")
        elif state.can_select_runout_count():
            state.select_runout_count()
        elif state.can_show_or_muck_hole_cards(()):
            state.show_or_muck_hole_cards(())
        elif state.can_kill_hand():
            state.kill_hand()
        elif state.can_push_chips():
            state.push_chips()
        elif state.can_pull_chips():
            state.pull_chips()
        else:
            return


def _hand(history: "HandHistory", state: "State", ends: list[Fraction] | None) -> PlayedHand:
    """Blinds, cards and actions from PokerKit's operations; `ends`: the final stacks."""
    from pokerkit import (
        AntePosting,
        BlindOrStraddlePosting,
        BoardDealing,
        CheckingOrCalling,
        CompletionBettingOrRaisingTo,
        Folding,
        HoleCardsShowingOrMucking,
        HoleDealing,
    )

    stacks = [Fraction(stack) for stack in history.starting_stacks]
    # Blinds are listed small before big, also heads-up, where PokerKit's first player posts the
    # big one and acts first after the flop.
    blinds = [Fraction(blind) for blind in reversed(state.blinds_or_straddles)]
    if blinds[Player.OOP] <= 0 or blinds[Player.IP] > blinds[Player.OOP]:
        raise HandError("another game: the button does not post the small blind")
    ledger = Ledger(_players(history), (stacks[0], stacks[1]), blinds[Player.OOP])
    board: list[int] = []
    holes: list[list[int]] = [[], []]
    shown: list[list[int]] = [[], []]
    for done in state.operations:
        street = Street(max(len(board) - 2, 0))
        match done:
            case AntePosting():
                ledger.post_ante(Player(done.player_index), Fraction(done.amount))
            case BlindOrStraddlePosting():
                ledger.post_blind(Player(done.player_index), Fraction(done.amount))
            case HoleDealing():
                holes[done.player_index] += _cards(done.cards)
            case BoardDealing():
                board += _cards(done.cards)
            case HoleCardsShowingOrMucking():
                shown[done.player_index] = _cards(done.hole_cards)
            case Folding():
                ledger.act(street, Player(done.player_index), ActionKind.FOLD, Fraction(0))
            case CheckingOrCalling():
                kind = ActionKind.CALL if done.amount else ActionKind.CHECK
                ledger.act(street, Player(done.player_index), kind, Fraction(0))
            case CompletionBettingOrRaisingTo():
                to = Fraction(done.amount)
                ledger.act(street, Player(done.player_index), ActionKind.RAISE, to)
    oop, ip = (_two(shown[p]) or _two(holes[p]) for p in Player)
    results = [Fraction(amount) for amount in state.payoffs]
    if ends is not None:
        if len(ends) != len(Player):
            raise HandError(f"{len(ends)} finishing stacks of 2 players")
        results = [end - begin for end, begin in zip(ends, stacks, strict=True)]
    return ledger.end(
        name="" if history.hand is None else f"Hand #{history.hand}",
        holes=(oop, ip),
        board=tuple(board),
        results=(results[0], results[1]),
    )


def _players(history: "HandHistory") -> tuple[str, str]:
    names = history.players or ["p1", "p2"]
    if len(names) != len(Player):
        raise HandError(f"{len(names)} names of 2 players")
    return names[0], names[1]


def _two(cards: list[int]) -> Cards | None:
    return (cards[0], cards[1]) if len(cards) == 2 else None


def _cards(cards: Any) -> list[int]:
    """Known cards; unseen ones are left out."""
    texts = [repr(card) for card in cards]
    return [parse_card(text) for text in texts if "?" not in text]
