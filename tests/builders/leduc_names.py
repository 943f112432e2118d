"""Information sets of Leduc hold'em as OpenSpiel names them."""

from allstreets.cfr.toys.leduc import LeducState

STACK = 100  # never reached; OpenSpiel's text shows what is left of it
# OpenSpiel knows three moves: fold 0, call 1 (also a check), raise 2 (also a bet).
MOVES = {"f": "0", "k": "1", "c": "1", "b": "2", "r": "2"}


def openspiel_information_set(state: LeducState) -> str:
    """OpenSpiel's `information_state_string` of the same history."""
    moves = [" ".join(MOVES[letter] for letter in betting) for betting in state.rounds]
    left = [STACK - paid for paid in state.invested]
    second_round = len(state.cards) == 3
    public = f"[Public: {state.cards[2]}]" if second_round else ""
    return (
        f"[Observer: {state.player}][Private: {state.cards[state.player]}]"
        f"[Round {1 + second_round}][Player: {state.player}][Pot: {sum(state.invested)}]"
        f"[Money: {left[0]} {left[1]}]{public}"
        f"[Round1: {moves[0]}][Round2: {moves[1]}]"
    )
