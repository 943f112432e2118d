"""The answers of a solution at a table: stored strategies, and streets solved again."""

import threading
from contextlib import closing
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from builders.live_tables import TableOfOurs, play_on, served
from builders.solutions import folder, solution

from allstreets.base import InputError
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import combo_index, live_combos, parse_cards
from allstreets.cli.main import main
from allstreets.interop import (
    DealtPlayer,
    Ledger,
    LiveHand,
    Move,
    TableResult,
    TableRules,
    play_acpc,
    state_text,
)
from allstreets.play import Decider, SolutionPlayer
from allstreets.solutions import WholeSolution
from allstreets.solvers import FIRST_CHECK
from allstreets.study import Effort

FLOP = "7s 7h 7d"
QUICK = Effort(target=0.01, seconds=1e6, threads=1)
RULES = TableRules(500, 50, 100)
CALL, CHECK, BET, RAISE = ActionKind.CALL, ActionKind.CHECK, ActionKind.BET, ActionKind.RAISE


def game(name: str = "boards") -> WholeSolution:
    known = solution(name).as_game
    assert known is not None
    return known


def seated(effort: Effort = QUICK) -> SolutionPlayer:
    return SolutionPlayer(game(), effort, "player")


def hand(*actions: tuple[ActionKind, int], rules: TableRules = RULES) -> Ledger:
    """Chips after some actions."""
    ledger = rules.ledger()
    for kind, to in actions:
        turn = ledger.to_act
        assert turn is not None
        ledger.act(*turn, kind, Fraction(to))
    return ledger


def seen(ledger: Ledger, board: str, cards: str = "As Kd") -> LiveHand:
    turn = ledger.to_act
    assert turn is not None
    held = parse_cards(cards)
    return LiveHand("1", turn[1], (held[0], held[1]), tuple(parse_cards(board)), ledger)


LIMPED = ((CALL, 100), (CHECK, 100))
CHECKED = (*LIMPED, *[(CHECK, 0)] * 4)


def test_what_is_stored_is_played() -> None:
    """On the table of the solution, every street."""
    player = seated()
    for actions, board, line in (
        ((), "", ""),
        (LIMPED, FLOP, "c x | 7s7h7d"),
        (CHECKED, f"{FLOP} 2c 9h", "c x | 7s7h7d | x x | 2c | x x | 9h"),
    ):
        answer = player.sit().answer(seen(hand(*actions), board))
        decision = game().at(line).decision
        assert len(answer.moves) == len(decision.actions)
        if decision.own.combos is not None:
            stored = answer.strategy[:, decision.combos]
            assert stored == pytest.approx(decision.strategy / decision.strategy.sum(axis=0))
        assert answer.strategy.sum(axis=0) == pytest.approx(1.0)
    assert (player.tally.stored, player.tally.solved, player.tally.guessed) == (3, 0, 0)


def test_a_bet_of_another_size_is_solved_again() -> None:
    """On the river, with the real size: hands that never win do not call."""
    player, board = seated(), f"{FLOP} 2c 9h"
    answer = player.sit().answer(seen(hand(*CHECKED, (BET, 130)), board))
    assert player.tally.solved == 1
    kinds = [move.kind for move in answer.moves]
    assert kinds[:2] == [ActionKind.FOLD, CALL]
    assert answer.moves[1].to == 130
    assert answer.evs is not None
    live = live_combos(parse_cards(board))
    assert np.isfinite(answer.evs[:2, live]).all()  # every hand has an answer
    folds, calls = answer.strategy[:2]
    aces, nothing = combo_index(*parse_cards("Ac Ad")), combo_index(*parse_cards("4h 3h"))
    assert calls[aces] + answer.strategy[2:, aces].sum() > 0.9
    assert folds[nothing] + answer.strategy[2:, nothing].sum() > 0.5
    # A call loses the bet at most, and a fold is worth 0.
    assert answer.evs[0, live] == pytest.approx(0.0, abs=1e-3)
    assert answer.evs[1, live].min() > -1.3 - 1e-3


def test_a_second_size_on_the_same_street() -> None:
    """An off-tree bet is answered by an off-tree raise, and that by another: the same street."""
    player, board = seated(), f"{FLOP} 2c 9h"
    follower = player.sit()
    first = follower.answer(seen(hand(*CHECKED, (BET, 110)), board))
    second = follower.answer(seen(hand(*CHECKED, (BET, 110), (RAISE, 270), (RAISE, 400)), board))
    assert len(first.moves) >= 2
    assert [move.kind for move in second.moves] == [ActionKind.FOLD, CALL]
    assert player.tally.solved == 2


def test_a_line_that_is_never_taken_has_an_answer() -> None:
    """A raise of all that is left on the turn, which no hand of the solution makes."""
    player = seated()
    checked = (*LIMPED, (CHECK, 0), (CHECK, 0), (BET, 390))
    answer = player.sit().answer(seen(hand(*checked), f"{FLOP} 2c"))
    assert answer.strategy.sum(axis=0) == pytest.approx(1.0)
    quads = combo_index(*parse_cards("7c Ac"))
    assert answer.strategy[0, quads] < 0.05  # four sevens do not fold


def test_a_raise_before_the_flop_counts_as_another() -> None:
    player = seated()
    answer = player.sit().answer(seen(hand((RAISE, 230)), ""))
    assert player.tally.mapped == 1
    kinds = [(move.kind, move.to) for move in answer.moves]
    assert kinds[:2] == [(ActionKind.FOLD, Fraction(100)), (CALL, Fraction(230))]


def test_the_time_limit_ends_a_solve() -> None:
    """A street is solved for as long as there is time: to the first check at most."""
    board = f"{FLOP} 2c 9h"
    iterations = []
    for seconds in (1e-9, 1e6):
        player = seated(Effort(target=1e-3, seconds=seconds, threads=1, draft=None))
        answer = player.sit().answer(seen(hand(*CHECKED, (BET, 130)), board))
        assert answer.strategy.sum(axis=0) == pytest.approx(1.0)
        (street,) = player._streets.values()
        iterations.append(street.result.iterations)
    assert iterations[0] <= FIRST_CHECK < iterations[1]


def test_no_hand_is_missing_where_a_range_is_thin() -> None:
    """Hands that the solution plays otherwise get a little weight, so each has an answer."""
    player, board = seated(), parse_cards(f"{FLOP} 2c 9h")
    live = live_combos(board)
    before = game().at("c x | 7s7h7d | x x | 2c | x x | 9h").decision
    reach = [before.combo_weights(each) for each in Player]
    assert min((held[live] / held.max()).min() for held in reach) < 1e-5
    player.sit().answer(seen(hand(*CHECKED, (BET, 130)), f"{FLOP} 2c 9h"))
    (street,) = player._streets.values()
    for held in street.result.spot.ranges:
        assert (held.weights[live] >= 0.99e-4 * held.weights.max()).all()
        assert not held.weights[~live].any()


def test_without_time_equity_answers() -> None:
    """Where nothing can be solved, a hand calls what pays for it."""
    player = seated(Effort(target=1e-9, seconds=1e-9, threads=1, draft=None))
    board = f"{FLOP} 2c 9h"
    follower = player.sit()
    follower._solve = lambda *_: setattr(follower, "_lost", True)  # type: ignore[method-assign]
    answer = follower.answer(seen(hand(*CHECKED, (BET, 130)), board))
    assert player.tally.guessed == 1
    folds, calls = answer.strategy
    assert calls[combo_index(*parse_cards("Ac Ad"))] == 1.0
    assert folds[combo_index(*parse_cards("4h 3h"))] == 1.0


def test_tables_of_other_games() -> None:
    player = seated()
    assert player.require_table(RULES) == ""
    assert "+6.0%" in player.require_table(TableRules(530, 50, 100))
    with pytest.raises(InputError, match="200 bb deep, player 5 bb"):
        player.require_table(TableRules())
    with pytest.raises(InputError, match="blinds"):
        player.require_table(TableRules(500, 100, 100))


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_is_legal(seed: int) -> None:
    """Against a player who bets at random before the flop, at another depth."""
    chance, player = Random(seed), SolutionPlayer(game("push or fold"), QUICK)
    rules = TableRules(1050, 50, 100)
    ledger, follower, cards = rules.ledger(), player.sit(), parse_cards("As Kd")
    me = Player(seed % 2)
    while (turn := ledger.to_act) is not None and turn[0] == Street.PREFLOP:
        if turn[1] != me:
            play_on(ledger, chance, 1)
            continue
        live = LiveHand("1", me, (cards[0], cards[1]), (), ledger)
        answer = follower.answer(live, whole=True)
        move = answer.moves[answer.drawn(combo_index(*cards), chance.random())]
        assert ledger.legal(move.kind, move.to, whole=True) == move
        ledger.act(*turn, move.kind, move.to)


SIZES = {Street.PREFLOP: 230, Street.FLOP: 70, Street.TURN: 90, Street.RIVER: 110}
"""Raises and bets that no tree of ours has."""


class ScriptedDealer:
    """Deals by the ACPC protocol, and bets against the player by a script: never a size of ours."""

    def __init__(self, dealt: DealtPlayer) -> None:
        self.dealt, self.moves = dealt, list[Move]()

    def deal(self, number: int, player: Player, *, raises: bool) -> Ledger:
        """A hand: the script raises before the flop or calls, and bets where it can after it."""
        ledger, board = RULES.ledger(), tuple(parse_cards(f"{FLOP} 2c 9h"))
        hand = parse_cards(("As Kd", "Qc Qd")[number % 2])
        cards = hand[0], hand[1]
        holes = (cards, None) if player == Player.OOP else (None, cards)
        while (turn := ledger.to_act) is not None:
            street, actor = turn
            shown = board[: street + 2 if street else 0]
            line = state_text(number, player, ledger, holes, shown)
            self.dealt.tell(line)
            if actor == player:
                move = self.dealt.answer(line, ledger)
                assert ledger.legal(move.kind, move.to, whole=True) == move
                self.moves.append(move)
            else:
                move = self._scripted(ledger, street, raises=raises)
            ledger.act(street, actor, move.kind, move.to)
        street = Street.RIVER if ledger.folded is None else ledger.actions[-1].street
        shown = board[: street + 2 if street else 0]
        self.dealt.tell(state_text(number, player, ledger, holes, shown))
        return ledger

    def _scripted(self, ledger: Ledger, street: Street, *, raises: bool) -> Move:
        """Bet or raise once a street, else call."""
        here = [action for action in ledger.actions if action.street == street]
        bet = any(action.kind >= BET for action in here)
        if bet or (street == Street.PREFLOP and not raises):
            return ledger.legal(CALL, Fraction(0), whole=True)
        return ledger.legal(RAISE, Fraction(SIZES[street]), whole=True)


def test_off_tree_bets_of_a_scripted_dealer() -> None:
    """Every street is solved again with the real size, in time, and every answer is legal."""
    player, ports, ready = seated(), list[int](), threading.Event()
    results: list[TableResult] = []

    def waiting(text: str) -> None:
        ports.append(int(text.rpartition(":")[2]))
        ready.set()

    def sit() -> None:
        ready.wait()
        play_acpc("127.0.0.1", ports[0], RULES, Decider(player), results.append)

    client = threading.Thread(target=sit)
    client.start()
    with closing(DealtPlayer(0, waiting)) as dealt:
        dealer = ScriptedDealer(dealt)
        ledgers = [
            dealer.deal(number, Player(number % 2), raises=number >= 4) for number in range(8)
        ]
    client.join()
    assert len(results) == len(ledgers)
    assert player.tally.solved > 2
    assert player.tally.mapped > 0
    assert player.tally.guessed == 0
    assert len({move.kind for move in dealer.moves}) > 1


def test_the_command_at_an_http_table(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ActionKind.FOLD, ActionKind.ALL_IN
    table = TableOfOurs(TableRules(1000, 50, 100), 3, kinds)
    arguments = [str(folder("push or fold")), "--protocol", "slumbot", "--stack", "1000"]
    with served(table) as url:
        assert main(["play", *arguments[:1], url, *arguments[1:], "--hands", "8"]) == 0
    out = capsys.readouterr()
    assert "8 hands: " in out.out
    assert f"{sum(table.winnings) / 100:+.2f} bb in all" in out.err
    assert len(table.winnings) == 8
    assert main(["play", *arguments[:1], "nowhere", *arguments[3:]]) == 2
    assert "HOST:PORT" in capsys.readouterr().err
    assert main(["play", *arguments[:1], "localhost:1"]) == 2  # 200 bb deep
    assert "does not carry over" in capsys.readouterr().err
