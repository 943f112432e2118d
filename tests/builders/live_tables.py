"""Hands in play at random, and the tables that deal them."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from random import Random
from typing import Any

from allstreets.betting import ActionKind, Player
from allstreets.cards import cards_text, evaluate
from allstreets.interop import Ledger, TableRules
from allstreets.interop.slumbot import read_action

KINDS = (*ActionKind, ActionKind.CALL, ActionKind.CALL)


def play_on(
    ledger: Ledger, chance: Random, actions: int, kinds: Sequence[ActionKind] = KINDS
) -> Ledger:
    """A hand with a number of further legal actions in whole chips, or to its end."""
    for _ in range(actions):
        turn = ledger.to_act
        if turn is None:
            break
        player = turn[1]
        most = ledger.bets[player] + ledger.left(player)
        to = min(ledger.least_raise + chance.randrange(800), most)
        move = ledger.legal(chance.choice(kinds), Fraction(to), whole=True)
        ledger.act(*turn, move.kind, move.to)
    return ledger


def action_text(ledger: Ledger) -> str:
    """The action string of a hand, as the table writes it."""
    words, street = list[str](), 0
    for action in ledger.actions:
        words.append("/" * (action.street - street))
        street = action.street
        letter = "fkcbbb"[action.kind]
        words.append(f"b{int(action.to)}" if letter == "b" else letter)
    turn = ledger.to_act
    if turn is not None:
        words.append("/" * (turn[0] - street))
    return "".join(words)


class TableOfOurs:
    """A bot with the interface of Slumbot, which plays at random; every result is noted."""

    def __init__(self, rules: TableRules, seed: int, kinds: Sequence[ActionKind] = KINDS) -> None:
        self.kinds = kinds
        self.rules, self.chance, self.hands = rules, Random(seed), 0
        self.winnings: list[int] = []
        self.requests: list[dict[str, Any]] = []
        self._tokens = 0

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, by the documented shape."""
        self.requests.append(body)
        if self._tokens and body.get("token") != f"t{self._tokens}":
            return {"error_msg": "unknown token"}
        if path == "/api/new_hand":
            self._cards = self.chance.sample(range(52), 9)
            self._ledger = self.rules.ledger()
            self._position, self.hands = Player(self.hands % 2), self.hands + 1
        elif path == "/api/act":
            before = action_text(self._ledger)
            try:
                self._ledger = read_action(before + str(body["incr"]), self.rules)
            except ValueError as error:
                return {"error_msg": str(error)}
        else:
            return {"error_msg": f"no such endpoint: {path}"}
        while (turn := self._ledger.to_act) is not None and turn[1] != self._position:
            play_on(self._ledger, self.chance, 1, self.kinds)
        return self._shown()

    def _shown(self) -> dict[str, Any]:
        self._tokens += 1
        ledger, mine = self._ledger, self._cards[:2]
        turn = ledger.to_act
        street = 3 if turn is None and ledger.folded is None else None
        street = (
            street if street is not None else int(turn[0] if turn else ledger.actions[-1].street)
        )
        board = self._cards[4 : 4 + (street + 2 if street else 0)]
        shown: dict[str, Any] = {
            "token": f"t{self._tokens}",
            "action": action_text(ledger),
            "client_pos": int(self._position),
            "hole_cards": [cards_text([card]) for card in mine],
            "board": [cards_text([card]) for card in board],
        }
        if turn is None:
            won = self._won()
            self.winnings.append(won)
            shown["winnings"] = won
        return shown

    def _won(self) -> int:
        ledger, stake = self._ledger, int(self._ledger.matched)
        if ledger.folded is not None:
            return -stake if ledger.folded == self._position else stake
        mine, theirs = map(
            int,
            evaluate(
                [[*self._cards[4:9], *self._cards[:2]], [*self._cards[4:9], *self._cards[2:4]]]
            ),
        )
        return stake * ((mine > theirs) - (mine < theirs))


@contextmanager
def served(table: TableOfOurs) -> Iterator[str]:
    """The base URL of a table on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(table.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
