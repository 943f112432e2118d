"""The dealer protocol: read and written alike, and as the competition's own code has it."""

import socket
import threading
from contextlib import closing, suppress
from fractions import Fraction
from random import Random

import pyspiel
import pytest
from builders.live_tables import play_on
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import ActionKind, Player
from allstreets.cards import parse_cards
from allstreets.interop import DealtPlayer, LiveHand, Move, TableResult, TableRules, play_acpc
from allstreets.interop.acpc import betting_text, move_text, read_betting, read_state, state_text

RULES = TableRules(2000, 50, 100)
UNIVERSAL = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=100 50,firstPlayer=2 1 1 1,"
    "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack=2000 2000,"
    "bettingAbstraction=fullgame)"
)
GAME = pyspiel.load_game(UNIVERSAL)


def board_of(street: int) -> tuple[int, ...]:
    return tuple(parse_cards("8c 8d 5c 6s Ah"))[: street + 2 if street else 0]


@given(st.integers(0, 10**6), st.integers(0, 12), st.sampled_from(Player))
def test_what_is_written_is_read(seed: int, actions: int, player: Player) -> None:
    ledger = play_on(RULES.ledger(), Random(seed), actions)
    turn = ledger.to_act
    street = turn[0] if turn else 3 if ledger.folded is None else ledger.actions[-1].street
    holes = [tuple(parse_cards("9s 8h")), tuple(parse_cards("9c 6h"))]
    shown = [(hole[0], hole[1]) if seat == player else None for seat, hole in enumerate(holes)]
    text = state_text(30, player, ledger, tuple(shown), board_of(int(street)))
    hand, seen = read_state(text, RULES)
    assert hand.ledger == ledger
    assert (hand.name, hand.player, hand.board) == ("hand 30", player, board_of(int(street)))
    assert seen == tuple(shown)
    joined = text.replace("/6s", "6s").replace("/Ah", "Ah")  # a board without slashes
    assert read_state(joined, RULES)[0] == hand


@pytest.mark.parametrize("seed", range(25))
def test_the_competitions_own_code_agrees(seed: int) -> None:
    """OpenSpiel plays hands with the code of the competition's dealer."""
    chance, state = Random(seed), GAME.new_initial_state()
    while not state.is_terminal():
        legal = state.legal_actions()
        if state.is_chance_node():
            state.apply_action(chance.choice(legal))
            continue
        ledger = read_betting(betting(state), RULES)
        assert betting_text(ledger) == betting(state)
        turn = ledger.to_act
        assert turn is not None
        player = turn[1]
        assert int(player) == state.current_player()
        most = ledger.bets[player] + ledger.left(player)
        raises = [action for action in legal if action > 1]
        if raises and most > ledger.bets[player.opponent]:
            sizes = [min(raises), max(raises)]
            wanted = [ledger.legal(ActionKind.RAISE, to) for to in (Fraction(0), most)]
            assert [move_text(ledger, move) for move in wanted] == [f"r{size}" for size in sizes]
        else:
            assert ledger.legal(ActionKind.RAISE, most).kind <= ActionKind.CALL
        assert (0 in legal) == (ledger.bets[player.opponent] > ledger.bets[player])
        state.apply_action(chance.choice([*legal[:2], *raises[:40]]))
    ledger = read_betting(betting(state), RULES)
    assert ledger.to_act is None
    assert betting_text(ledger) == betting(state)
    assert abs(state.returns()[0]) in (0.0, float(ledger.matched))
    if ledger.folded is not None:
        assert state.returns()[ledger.folded] == -float(ledger.matched)


def betting(state: "pyspiel.State") -> str:
    (line,) = (row for row in str(state).splitlines() if row.startswith("ACPC State:"))
    return str(line.split(":")[3])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("MATCHSTATE:0:1:c/r100:9s8h|/8c8d5c", "not a hand"),  # a raise to what is in already
        ("MATCHSTATE:2:1::9s8h|", "not a MATCHSTATE"),
        ("MATCHSTATE:0:1:r:9s8h|", "not an action"),
        ("MATCHSTATE:0:1::9s9s|", "twice"),
        ("MATCHSTATE:0:1:cc/:9s8h|", "betting is on the flop"),
        ("MATCHSTATE:0:1::9s8h|/8c8d5c", "betting is on the preflop"),
        ("MATCHSTATE:0:1:r2001:9s8h|", "not a hand"),
        ("MATCHSTATE:0:1:ccc:9s8h|", "do not match"),
        ("garbage", "not a MATCHSTATE"),
    ],
)
def test_other_lines_are_refused(line: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_state(line, RULES)


@given(st.text(alphabet="MATCHSTE:0123cfr/|8h9dXé", max_size=60))
def test_no_line_breaks_the_reader(text: str) -> None:
    for line in (text, f"MATCHSTATE:0:1:{text}"):
        with suppress(InputError):
            hand, _ = read_state(line, RULES)
            assert hand.ledger.actions == read_betting(line.split(":")[3], RULES).actions


def test_a_player_at_a_dealers_table() -> None:
    """Both ends of a connection, with comments, and lines that a player need not answer."""
    ports: list[int] = []
    ready = threading.Event()
    results: list[TableResult] = []
    asked: list[LiveHand] = []

    def waiting(text: str) -> None:
        ports.append(int(text.rpartition(":")[2]))
        ready.set()

    def decide(hand: LiveHand) -> Move:
        asked.append(hand)
        return hand.ledger.legal(ActionKind.RAISE, Fraction(250))

    def sit() -> None:
        ready.wait()
        play_acpc("127.0.0.1", ports[0], RULES, decide, results.append)

    client = threading.Thread(target=sit)
    client.start()
    dealt = DealtPlayer(0, waiting)
    ledger, player = RULES.ledger(), Player.IP
    cards = tuple(parse_cards("9c 6h"))
    holes = (None, (cards[0], cards[1]))
    dealt.tell("# a comment")
    line = state_text(7, player, ledger, holes, ())
    dealt.tell(line)
    move = dealt.answer(line, ledger)
    assert (move.kind, move.to) == (ActionKind.RAISE, Fraction(250))
    first = ledger.to_act
    assert first is not None
    ledger.act(*first, move.kind, move.to)
    dealt.tell(state_text(7, player, ledger, holes, ()))  # the other player's turn
    turn = ledger.to_act
    assert turn is not None
    ledger.act(*turn, ActionKind.FOLD, Fraction(0))
    dealt.tell(state_text(7, player, ledger, holes, ()))
    dealt.close()
    client.join()
    assert len(asked) == 1
    assert [(result.hand.name, result.won) for result in results] == [("hand 7", Fraction(100))]


def test_nobody_there() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
    with pytest.raises(InputError, match="no dealer answers"):
        play_acpc("127.0.0.1", port, RULES, unasked, print)


def unasked(_: LiveHand) -> Move:
    raise AssertionError("a decision that nobody should be asked for")
