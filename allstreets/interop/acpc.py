"""The dealer protocol of the Annual Computer Poker Competition, version 2.0.0, for two players.

A dealer listens, players connect and say VERSION:2.0.0. Whenever something happens the dealer sends
every player the hand as he sees it, and the player to act sends the same line back with his action:

    dealer   MATCHSTATE:0:30:r250c/:9s8h|/8c8d5c
    player   MATCHSTATE:0:30:r250c/:9s8h|/8c8d5c:r500

1. MATCHSTATE:POSITION:HAND:BETTING:CARDS. Position 0 is the big blind, 1 the button.
2. BETTING has a slash between streets: f fold, c check or call, rN a bet or raise after which the
   player has put N chips into the pot, in the whole hand.
3. CARDS are both players' hands with a bar between them, an empty one where they are hidden, and
   after a slash each the flop, the turn and the river. A board without slashes between its streets
   ("/8c8d5c6s") is read as well.
4. Lines that begin with # or ; are comments. The dealer ends a match by closing the connection.

`play_acpc` is a player, `DealtPlayer` a dealer's end of a connection.
"""

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction

from allstreets.base import InputError
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import card_text, evaluate
from allstreets.interop.live_hands import (
    MOST_TEXT,
    Decide,
    LiveHand,
    TableResult,
    TableRules,
    follow,
    live_hand,
    read_cards,
    refuse,
)
from allstreets.interop.played_hands import Cards, Ledger, Move

VERSION = "VERSION:2.0.0"
STATE = re.compile(r"MATCHSTATE:([01]):(\d{1,18}):([cfr0-9/]*):([2-9TJQKAcdhs|/]*)")
ACTION = re.compile(r"f|c|r(\d{1,15})|/")
BOARD_CARDS = 5
SECONDS = 600.0  # that a player waits for the dealer, and a dealer for a player


def read_state(text: str, rules: TableRules) -> tuple[LiveHand, tuple[Cards | None, Cards | None]]:
    """A line of a dealer: the hand, and the cards of both players as far as shown."""
    match = STATE.fullmatch(text) if len(text) <= MOST_TEXT else None
    if match is None:
        refuse("which is not a MATCHSTATE of two players' no-limit hold'em", text)
    position, number, betting, cards = match.groups()
    try:
        ledger = read_betting(betting, rules)
        hands, _, table = cards.partition("/")
        held = [read_cards(hand) for hand in hands.split("|")]
        if len(held) != len(Player) or any(len(hand) not in (0, 2) for hand in held):
            raise InputError("expected are two hands of two cards, with a bar between them")
        oop, ip = ((hand[0], hand[1]) if hand else None for hand in held)
        board, player = read_cards(table.replace("/", "")), Player(int(position))
        return live_hand(f"hand {number}", player, (oop, ip), board, ledger), (oop, ip)
    except InputError as error:
        refuse(f"which is not a hand: {error}", text)


def read_betting(text: str, rules: TableRules) -> Ledger:
    """The chips after the betting of a line."""
    return follow(text, ACTION, rules, _read_move)


def _read_move(match: re.Match[str], ledger: Ledger) -> Move:
    turn = ledger.to_act
    assert turn is not None
    street, player = turn
    own, theirs = ledger.bets[player], ledger.bets[player.opponent]
    if match.group(1) is not None:
        to = int(match.group(1)) - _before(ledger, player, street)
        return Move(ActionKind.RAISE, to)
    if match.group() == "f":
        return Move(ActionKind.FOLD, own)
    return Move(ActionKind.CALL if theirs > own else ActionKind.CHECK, theirs)


def _before(ledger: Ledger, player: Player, street: Street) -> Fraction:
    """The chips that a player has put in before a street."""
    now = ledger.bets[player] if ledger.to_act and ledger.to_act[0] == street else Fraction(0)
    return ledger.stacks[player] - ledger.left(player) - now


def betting_text(ledger: Ledger) -> str:
    """The betting of a line; after both are all-in the remaining streets are empty."""
    words, street, put_in = list[str](), Street.PREFLOP, [Fraction(0), Fraction(0)]
    bets = list(ledger.blinds)
    for action in ledger.actions:
        while street < action.street:
            street = Street(street + 1)
            words.append("/")
            put_in, bets = [a + b for a, b in zip(put_in, bets, strict=True)], [Fraction(0)] * 2
        bets[action.player] = action.to
        if action.kind >= ActionKind.BET:
            words.append(f"r{int(put_in[action.player] + action.to)}")
        else:
            words.append("f" if action.kind == ActionKind.FOLD else "c")
    turn, last = ledger.to_act, street
    if turn is not None:
        last = turn[0]
    elif ledger.folded is None:
        last = Street.RIVER
    return "".join(words) + "/" * (last - street)


def state_text(
    number: int,
    player: Player,
    ledger: Ledger,
    holes: tuple[Cards | None, ...],
    board: tuple[int, ...],
) -> str:
    """The line of a dealer to a player; hidden hands are None."""
    hands = "|".join("" if hole is None else "".join(map(card_text, hole)) for hole in holes)
    streets = (board[:3], board[3:4], board[4:])
    dealt = "".join("/" + "".join(map(card_text, cards)) for cards in streets if cards)
    return f"MATCHSTATE:{int(player)}:{number}:{betting_text(ledger)}:{hands}{dealt}"


def move_text(ledger: Ledger, move: Move) -> str:
    """The action of an answer."""
    turn = ledger.to_act
    assert turn is not None
    if move.kind >= ActionKind.BET:
        return f"r{int(move.to + _before(ledger, turn[1], turn[0]))}"
    return "f" if move.kind == ActionKind.FOLD else "c"


def play_acpc(
    host: str,
    port: int,
    rules: TableRules,
    decide: Decide,
    on_hand: Callable[[TableResult], None],
    hands: int | None = None,
) -> None:
    """Play at a dealer's table until it closes, or for this many hands."""
    try:
        connection = socket.create_connection((host, port), SECONDS)
    except OSError as error:
        raise InputError(
            f"no dealer answers at {host}:{port} ({error.strerror or error}): start it first"
        ) from None
    over, played = "", 0
    with closing(connection):
        _send(connection, VERSION)
        for line in _lines(connection):
            hand, holes = read_state(line, rules)
            if hand.ledger.to_act is None:
                if hand.name != over:
                    over, played = hand.name, played + 1
                    on_hand(TableResult(hand, _won(hand, holes)))
                if played == hands:
                    return
            elif hand.is_mine:
                if hand.cards is None:
                    refuse("which hides the player's own cards", line)
                _send(connection, f"{line}:{move_text(hand.ledger, decide(hand))}")


def _won(hand: LiveHand, holes: tuple[Cards | None, Cards | None]) -> Fraction | None:
    """The player's winnings; None where the cards that decide were not shown."""
    ledger, player = hand.ledger, hand.player
    oop, ip = holes
    if ledger.folded is not None:
        return ledger.matched if ledger.folded != player else -ledger.matched
    if oop is None or ip is None or len(hand.board) < BOARD_CARDS:
        return None
    strengths = evaluate([[*hand.board, *oop], [*hand.board, *ip]]).tolist()
    lead: int = strengths[player] - strengths[player.opponent]
    return ledger.matched * ((lead > 0) - (lead < 0))


def _send(connection: socket.socket, line: str) -> None:
    try:
        connection.sendall(f"{line}\r\n".encode())
    except OSError as error:
        raise InputError(f"the connection is lost: {error.strerror or error}") from None


def _lines(connection: socket.socket) -> Iterator[str]:
    """Lines as they come, without comments, until the other side hangs up."""
    rest = b""
    while True:
        try:
            received = connection.recv(4096)
        except TimeoutError:
            raise InputError(f"no message for {SECONDS:g} s: the table is gone") from None
        except ConnectionError:
            return
        if not received:
            return
        *lines, rest = (rest + received).split(b"\n")
        if len(rest) > MOST_TEXT:
            refuse("a line without an end", rest[:80].decode(errors="replace"))
        for line in lines:
            text = line.decode(errors="replace").strip()
            if text and text[0] not in "#;":
                yield text


class DealtPlayer:
    """A player who has connected to a dealer."""

    def __init__(self, port: int, waiting: Callable[[str], None] | None = None) -> None:
        """Wait for him at a port of this machine; `waiting` is called with the address."""
        with closing(socket.create_server(("127.0.0.1", port))) as server:
            if waiting is not None:
                waiting(f"waiting for a player at 127.0.0.1:{server.getsockname()[1]}")
            server.settimeout(SECONDS)
            try:
                self._connection, _ = server.accept()
            except TimeoutError:
                raise InputError(f"no player has connected to port {port}") from None
        self._connection.settimeout(SECONDS)
        self._lines = _lines(self._connection)
        hello = next(self._lines, "")
        if not hello.startswith("VERSION:2."):
            self.close()
            raise InputError(f"the player at port {port} says '{hello[:40]}', not {VERSION}")

    def tell(self, line: str) -> None:
        """Send him a hand as he sees it."""
        _send(self._connection, line)

    def answer(self, line: str, ledger: Ledger) -> Move:
        """His move; answers to earlier lines are ignored."""
        for answer in self._lines:
            head, _, action = answer.rpartition(":")
            if head != line:
                continue
            match = ACTION.fullmatch(action)
            if match is None or action == "/":
                raise InputError(f"the player answers '{action[:40]}', which is not an action")
            move = _read_move(match, ledger)
            return ledger.legal(move.kind, move.to, whole=True)
        raise InputError("the player has disconnected")

    def close(self) -> None:
        """End the match."""
        self._connection.close()
