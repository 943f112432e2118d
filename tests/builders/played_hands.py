"""Random legal hands, played in PokerKit, and the same hands as sites write them down."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from pokerkit import Automation, HandHistory, NoLimitTexasHoldem, State

from allstreets.cards import card_text

STREETS = ("preflop", "flop", "turn", "river")
AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
NAMES = ("Bob", "Ann: 1st")  # the big blind and the button


@dataclass
class Played:
    """A hand in chips, recorded while PokerKit plays it; the big blind is player 0."""

    stacks: tuple[int, int]
    blinds: tuple[int, int]  # small, big
    ante: int
    holes: tuple[str, str]
    board: str = ""
    actions: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Street, player, "fold" … "raise", and his total on the street."""
    results: tuple[int, int] = (0, 0)
    shown: bool = False
    phh: str = ""


def play(seed: int) -> Played:
    """A hand of two players with any stacks, with or without antes, that ends in any way."""
    chance = Random(seed)
    big = chance.choice([2, 30, 100])
    small, ante = big // 2, chance.choice([0, 0, 1, big // 10])
    deep = chance.choice([3, 60])  # short stacks are all-in by blinds and antes now and then
    stacks = tuple(chance.randint(1, deep * big) for _ in range(2))
    texts = [card_text(card) for card in chance.sample(range(52), 9)]
    game = NoLimitTexasHoldem(AUTOMATIONS, True, ante, (small, big), big)
    state = game(stacks, 2)
    hand = Played(
        (stacks[0], stacks[1]), (small, big), ante, ("".join(texts[:2]), "".join(texts[2:4]))
    )
    board = ["".join(texts[4:7]), texts[7], texts[8]]
    for hole in hand.holes:
        if state.can_deal_hole():
            state.deal_hole(hole)
    streets = 0
    while state.status:
        if state.actor_index is not None:
            _act(chance, state, hand, STREETS[streets])
        elif state.can_burn_card():
            state.burn_card("??")
        elif state.can_deal_board():
            state.deal_board(board[streets])
            hand.board += board[streets]
            streets += 1
        elif state.can_show_or_muck_hole_cards():
            hand.shown = True
            state.show_or_muck_hole_cards(True)
        else:
            state.select_runout_count(None)
    hand.results = state.payoffs[0], state.payoffs[1]
    history = HandHistory.from_game_state(
        game, state, players=list(NAMES), hand=7, ante_trimming_status=True
    )
    hand.phh = history.dumps()
    return hand


def _act(chance: Random, state: State, hand: Played, street: str) -> None:
    player = state.actor_index
    assert player is not None
    moves = ["call", "call"]
    if state.checking_or_calling_amount and state.can_fold():
        moves.append("fold")
    if state.can_complete_bet_or_raise_to():
        moves += ["raise", "raise"]
    move = chance.choice(moves)
    before, theirs = state.bets[player], state.bets[1 - player]
    if move == "fold":
        state.fold()
        hand.actions.append((street, player, "fold", before))
    elif move == "call":
        paid = state.checking_or_calling_amount or 0
        state.check_or_call()
        hand.actions.append((street, player, "call" if paid else "check", before + paid))
    else:
        least = state.min_completion_betting_or_raising_to_amount
        most = state.max_completion_betting_or_raising_to_amount
        assert least is not None
        assert most is not None
        to = chance.choice([least, most, chance.randint(least, most)])
        behind = before + state.stacks[player]
        state.complete_bet_or_raise_to(to)
        kind = "all_in" if to == behind else "raise" if theirs else "bet"
        hand.actions.append((street, player, kind, to))


def site_text(hand: Played, site: str = "PokerStars", viewer: int = 1) -> str:
    """The hand as a site writes it, seen by one of the players."""
    return _Dealer(hand, site).write(viewer)


class _Dealer:
    """Keeps the chips in its own way, so that no tested code checks itself."""

    def __init__(self, hand: Played, site: str) -> None:
        self.hand, self.site = hand, site
        self.lines: list[str] = []
        self.left = list(hand.stacks)
        self.paid = [0, 0]  # in all
        self.antes = [0, 0]
        self.bets = [0, 0]

    def money(self, chips: int) -> str:
        return f"${chips / 100:.2f}" if self.site == "PokerStars" else f"{chips:,}"

    def pay(self, player: int, chips: int) -> str:
        """Put chips in; what a line ends with."""
        self.left[player] -= chips
        self.paid[player] += chips
        return "" if self.left[player] else " and is all-in"

    def write(self, viewer: int) -> str:
        hand, add = self.hand, self.lines.append
        small, big = hand.blinds
        if self.site == "PokerStars":
            stakes = f"({self.money(small)}/{self.money(big)} USD)"
            add(f"PokerStars Hand #7:  Hold'em No Limit {stakes} - 2024/05/06 7:08:09 ET")
        else:
            level = f"Level12({small:,}/{big:,})"
            add(f"Poker Hand #TM7: Tournament #9, Heads-up $5 Hold'em No Limit - {level} - 2024")
        add("Table 'Juno II' 2-max Seat #3 is the button")
        add(f"Seat 1: {NAMES[0]} ({self.money(hand.stacks[0])} in chips)")
        add(f"Seat 3: {NAMES[1]} ({self.money(hand.stacks[1])} in chips)")
        for player in (0, 1):
            ante = min(hand.ante, self.left[player])
            if ante:
                self.antes[player] = ante
                add(f"{NAMES[player]}: posts the ante {self.money(ante)}{self.pay(player, ante)}")
        for player, what, blind in ((1, "small", small), (0, "big", big)):
            posted = min(blind, self.left[player])
            if posted:
                self.bets[player] = posted
                end = self.pay(player, posted)
                add(f"{NAMES[player]}: posts {what} blind {self.money(posted)}{end}")
        add("*** HOLE CARDS ***")
        add(f"Dealt to {NAMES[viewer]} [{_spaced(hand.holes[viewer])}]")
        if self.site != "PokerStars":
            add(f"Dealt to {NAMES[1 - viewer]} ")
        add(f'{NAMES[0]} said, "nice: calls $5"')
        self._streets()
        self._end()
        return "\n".join(self.lines) + "\n\n\n"

    def _streets(self) -> None:
        hand, street = self.hand, 0
        dealt = (len(hand.board) // 2 - 2) if hand.board else 0
        for name, player, kind, to in hand.actions:
            while STREETS[street] != name:
                street += 1
                self._deal(street)
            self._line(player, kind, to)
        while street < dealt:
            street += 1
            self._deal(street)

    def _deal(self, street: int) -> None:
        self.bets = [0, 0]
        cards = self.hand.board[: 2 * (street + 2)]
        new = "" if street == 1 else f" [{cards[-2:]}]"
        old = _spaced(cards if street == 1 else cards[:-2])
        self.lines.append(f"*** {STREETS[street].upper()} *** [{old}]{new}")

    def _line(self, player: int, kind: str, to: int) -> None:
        name, theirs = NAMES[player], self.bets[1 - player]
        paid = to - self.bets[player]
        end = self.pay(player, paid) if paid else ""
        self.bets[player] = to
        if kind == "all_in":
            kind = "raise" if theirs else "bet"
        words: dict[str, Any] = {
            "fold": "folds",
            "check": "checks",
            "call": f"calls {self.money(paid)}{end}",
            "bet": f"bets {self.money(to)}{end}",
            "raise": f"raises {self.money(to - theirs)} to {self.money(to)}{end}",
        }
        self.lines.append(f"{name}: {words[kind]}")

    def _end(self) -> None:
        hand, add = self.hand, self.lines.append
        live = [self.paid[p] - self.antes[p] for p in (0, 1)]
        back = [max(live[p] - live[1 - p], 0) for p in (0, 1)]
        for player in (0, 1):
            if back[player]:
                returned = self.money(back[player])
                add(f"Uncalled bet ({returned}) returned to {NAMES[player]}")
        if hand.shown:
            add("*** SHOW DOWN ***")
            for player in (0, 1):
                add(f"{NAMES[player]}: shows [{_spaced(hand.holes[player])}] (something)")
        for player in (0, 1):
            won = hand.results[player] + self.paid[player] - back[player]
            if won:
                add(f"{NAMES[player]} collected {self.money(won)} from pot")
        add("*** SUMMARY ***")
        add(f"Total pot {self.money(sum(self.paid) - sum(back))} | Rake {self.money(0)} ")
        if hand.board:
            add(f"Board [{_spaced(hand.board)}]")
        add(f"Seat 1: {NAMES[0]} (big blind) and whatever")
        add(f"Seat 3: {NAMES[1]} (button) (small blind) and whatever")


def _spaced(cards: str) -> str:
    return " ".join(cards[place : place + 2] for place in range(0, len(cards), 2))
