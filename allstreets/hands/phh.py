"""Hands in the Poker Hand History format (PHH), replayed by PokerKit.

A .phh file is one hand; a .phhs file has several, each under a header such as `[12]`, and is read
part by part so that a broken one does not take the others with it. PokerKit replays every action
and knows the rules; nothing is repaired but what the format leaves open at the end of a hand.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from allstreets.base import InputError
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import parse_card
from allstreets.hands.ledger import HandError, Ledger
from allstreets.hands.played import Cards, PlayedHand

if TYPE_CHECKING:
    from pokerkit import HandHistory, State

HEADER = re.compile(r"^\s*\[(\w+)\]\s*$")
PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
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
    """Whether a text without a name that says so is PHH."""
    return re.search(r"^\s*variant\s*=", text, re.MULTILINE) is not None


def split_phh(text: str) -> Iterator[tuple[int, str, str]]:
    """(number of its first line, header, text) of every hand of a file."""
    lines = text.splitlines()
    heads = [
        (number, found[1]) for number, line in enumerate(lines) if (found := HEADER.match(line))
    ]
    if not heads:
        yield 1, "", text
        return
    for place, (number, header) in enumerate(heads):
        last = heads[place + 1][0] if place + 1 < len(heads) else len(lines)
        yield number + 1, header, "\n".join(["", *lines[number + 1 : last]])


def read_phh(text: str) -> PlayedHand:
    """A hand; a `HandError` says why it is none."""
    history = _history(text)
    if history.variant != NO_LIMIT:
        raise HandError(f"another game: {NAMES.get(history.variant, history.variant)}")
    count = len(history.starting_stacks)
    if count != len(Player):
        raise HandError(f"{count} player{'s' * (count != 1)}")
    return _hand(history, _replay(history))


def _history(text: str) -> "HandHistory":
    try:
        from pokerkit import HandHistory
    except ModuleNotFoundError:
        raise InputError(MISSING) from None
    try:
        # Amounts as they are written, so that 0.1 is a tenth.
        return HandHistory.loads(text, parse_value=_value)
    except (ValueError, TypeError, KeyError) as error:
        found = PLACE.search(str(error))
        reason = PLACE.sub("", str(error))
        raise HandError(reason, int(found[1]) - 1 if found and found[1] else 0) from None


def _value(text: str) -> Any:
    return Fraction(text)


def _replay(history: "HandHistory") -> "State":
    """The hand played to its end."""
    from pokerkit import parse_action

    try:
        state = history.create_state()
    except (ValueError, TypeError, KeyError) as error:
        raise HandError(f"the table cannot be: {error}") from None
    for number, action in enumerate(history.actions, 1):
        while state.can_burn_card():
            state.burn_card("??")
        try:
            with catch_warnings(action="ignore"):  # of cards that are gone: the ledger looks
                parse_action(state, action, _value)
        except (ValueError, TypeError, KeyError) as error:
            raise HandError(
                f"action {number}, '{action}': {str(error) or 'it cannot be'}"
            ) from None
    _finish(state)
    if state.status:
        raise HandError("it is cut off: the betting is not over")
    return state


def _finish(state: "State") -> None:
    """What a file may leave out: cards that come after an all-in, and who shows."""
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


def _hand(history: "HandHistory", state: "State") -> PlayedHand:
    """What was posted, dealt and done, out of PokerKit's operations."""
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

    stacks = [_exact(stack) for stack in history.starting_stacks]
    # Blinds are listed small before big, also heads-up, where PokerKit's first player posts the
    # big one and acts first after the flop.
    blinds = [_exact(blind) for blind in reversed(state.blinds_or_straddles)]
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
                ledger.post_ante(Player(done.player_index), _exact(done.amount))
            case BlindOrStraddlePosting():
                ledger.post_blind(Player(done.player_index), _exact(done.amount))
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
                to = _exact(done.amount)
                ledger.act(street, Player(done.player_index), ActionKind.RAISE, to)
    oop, ip = (_two(shown[p]) or _two(holes[p]) for p in Player)
    results = [_exact(amount) for amount in state.payoffs]
    if history.finishing_stacks is not None:
        ends = [_exact(stack) for stack in history.finishing_stacks]
        results = [end - begin for end, begin in zip(ends, stacks, strict=True)]
    return ledger.end(
        name="" if history.hand is None else f"Hand #{history.hand}",
        holes=(oop, ip),
        board=tuple(board),
        results=(results[0], results[1]),
    )


def _players(history: "HandHistory") -> tuple[str, str]:
    names = history.players or ["p1", "p2"]
    return str(names[0]), str(names[1])


def _two(cards: list[int]) -> Cards | None:
    return (cards[0], cards[1]) if len(cards) == 2 else None


def _cards(cards: Any) -> list[int]:
    """Known cards; those that nobody saw are left out."""
    texts = [repr(card) for card in cards]
    return [parse_card(text) for text in texts if "?" not in text]


def _exact(amount: Any) -> Fraction:
    return Fraction(str(amount))
