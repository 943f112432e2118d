"""A played hand in the words of lines."""

from allstreets.betting import (
    BIG_BLINDS,
    CHIPS_PER_BB,
    POT_KINDS,
    Action,
    ActionKind,
    Street,
    action_text,
    neat,
)
from allstreets.cards import cards_text
from allstreets.hands import PlayedAction, PlayedHand

UNOPENED = "unopened"


def played_word(action: PlayedAction) -> str:
    """What was done: "x", "b3", "r2.5" (to, in big blinds), "a"."""
    return action_text(Action(action.kind, neat(float(action.to * CHIPS_PER_BB))), BIG_BLINDS)


def line_before(hand: PlayedHand, place: int) -> str:
    """What was done before an action, and the cards that were dealt: "r2.5 c | QsJh2h | x"."""
    street, words = Street.PREFLOP, list[str]()
    for action in hand.actions[: place + 1]:
        while street < action.street:
            street = Street(street + 1)
            dealt = hand.board_on(street)[0 if street == Street.FLOP else -1 :]
            words += ["|", cards_text(dealt), "|"]
        words.append(played_word(action))
    return " ".join(words[:-1])


def pot_kind(hand: PlayedHand) -> str:
    """The kind of pot that the hand became before the flop."""
    if not hand.actions or hand.actions[0].kind == ActionKind.FOLD:
        return UNOPENED
    return POT_KINDS[min(hand.raises, len(POT_KINDS) - 1)]
