"""The HTTP interface of Slumbot: hands are requested, and answered move by move, in JSON.

    POST URL/api/new_hand   {"token": "…"}                  without a token at first
    POST URL/api/act        {"token": "…", "incr": "b200"}
    →   {"token": "…", "action": "b200c/kk/b400", "client_pos": 0, "hole_cards": ["Ac", "9d"],
         "board": ["8c", "8d", "5c"]}

1. `action` is the hand so far, with a slash between streets: k check, c call, f fold, bN a bet or
   raise to N chips on this street, the blind included.
2. `client_pos` is 1 on the button (the small blind), 0 in the big blind.
3. A hand that is over has `winnings`, in chips; the bot's cards may stand in `bot_hole_cards`.
4. `error_msg` names the problem. A new token replaces the old one.
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from allstreets.base import InputError
from allstreets.betting import ActionKind, Player
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
from allstreets.interop.played_hands import Ledger, Move

SECONDS = 60.0  # time limit of an answer
MOST_BYTES = 1 << 20
ACTION = re.compile(r"[kcf/]|b(\d{1,15})")
KINDS = {"f": ActionKind.FOLD, "k": ActionKind.CHECK, "c": ActionKind.CALL}


def read_action(text: str, rules: TableRules) -> Ledger:
    """The chips after an action string."""
    return follow(text, ACTION, rules, _read_move)


def _read_move(match: re.Match[str], ledger: Ledger) -> Move:
    if match.group(1) is not None:
        return Move(ActionKind.RAISE, Fraction(int(match.group(1))))
    return Move(KINDS[match.group()], max(ledger.bets))


def move_text(move: Move) -> str:
    """The increment of an answer."""
    return f"b{int(move.to)}" if move.kind >= ActionKind.BET else "fkc"[move.kind]


def read_answer(answer: Mapping[str, Any], name: str, rules: TableRules) -> LiveHand:
    """The hand of an answer."""
    action, position = answer.get("action"), answer.get("client_pos")
    try:
        if not isinstance(action, str) or len(action) > MOST_TEXT:
            raise InputError("'action' is not a text")
        if position not in (0, 1) or isinstance(position, bool):
            raise InputError("'client_pos' is neither 0 nor 1")
        cards = read_cards(_joined(answer, "hole_cards"))
        board = read_cards(_joined(answer, "board"))
        if len(cards) != 2:
            raise InputError(f"'hole_cards' are two cards, not {len(cards)}")
        player, hole = Player(position), (cards[0], cards[1])
        holes = (hole, None) if player == Player.OOP else (None, hole)
        return live_hand(name, player, holes, board, read_action(action, rules))
    except InputError as error:
        refuse(f"which is not a hand: {error}", json.dumps(answer))


def _joined(answer: Mapping[str, Any], key: str) -> str:
    cards = answer.get(key)
    if not isinstance(cards, list) or not all(isinstance(card, str) for card in cards):
        raise InputError(f"'{key}' is not a list of cards")
    return "".join(cards)


class SlumbotTable:
    """A table at a base URL."""

    def __init__(self, url: str, rules: TableRules) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"'{url}' is not a table's address: write http://HOST or https://HOST")
        self._url, self._rules = url.rstrip("/"), rules
        self._token: str | None = None

    def play(self, hands: int, decide: Decide, on_hand: Callable[[TableResult], None]) -> None:
        """Play this many hands."""
        for number in range(1, hands + 1):
            name = f"hand {number}"
            answer = self._ask("new_hand", {})
            while "winnings" not in answer:
                hand = read_answer(answer, name, self._rules)
                if not hand.is_mine:
                    refuse("in which the player has nothing to decide", json.dumps(answer))
                answer = self._ask("act", {"incr": move_text(decide(hand))})
            winnings = answer["winnings"]
            if isinstance(winnings, bool) or not isinstance(winnings, int | float):
                refuse("whose winnings are not a number", json.dumps(answer))
            hand = read_answer(answer, name, self._rules)
            on_hand(TableResult(hand, Fraction(winnings)))

    def _ask(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """An answer of the table."""
        token = {} if self._token is None else {"token": self._token}
        request = urllib.request.Request(
            f"{self._url}/api/{what}",
            json.dumps({**token, **body}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                data = response.read(MOST_BYTES)
        except urllib.error.HTTPError as error:
            data = error.read(MOST_BYTES)
            if b"error_msg" not in data:
                raise InputError(f"{self._url} answers {error.code} {error.reason}") from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"{self._url} does not answer: {reason}") from None
        try:
            answer = json.loads(data)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            refuse("which is not a JSON object", data.decode(errors="replace"))
        if "error_msg" in answer:
            raise InputError(f"{self._url} refuses: {str(answer['error_msg'])[:200]}")
        if isinstance(answer.get("token"), str):
            self._token = answer["token"]
        return answer
