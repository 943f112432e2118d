"""A reviewed hand as a page replays it: its steps, and a grid for each decision of the hero."""

from typing import TypeVar

import numpy as np

from allstreets.betting import Player, line_in_words
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Range, live_combos, parse_board
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.reviews import (
    ReplayDecision,
    ReplayHand,
    ReplayOption,
    ReplayStep,
)
from allstreets.explorer.views.nodes import PLAYER_NAMES, TONES, shades, street_of
from allstreets.study import GradedDecision, HandReview

Found = TypeVar("Found")

NO_CLASSES = (None,) * HAND_COUNT
VERBS = {
    "f": ("fold", "Fold"),
    "x": ("check", "Check"),
    "c": ("call", "Call"),
    "b": ("bet", "Bet"),
    "r": ("raise to", "Raise"),
    "a": ("all-in", "All-in"),
}


def replay_hand(key: str, hand: HandReview, solution: str | None) -> ReplayHand:
    """A hand for the page; `solution` is the id of the whole game that grades it, if it is open."""
    hero = next(player for player in Player if player.seat == hand.seat)
    at = {one.place: number for number, one in enumerate(hand.decisions)}
    return ReplayHand(
        hand=key,
        name=hand.name,
        file=hand.file,
        file_line=hand.line,
        player=PLAYER_NAMES[hero],
        players=_both(hand.players),
        seats=_both((Player.OOP.seat, Player.IP.seat)),
        holes=_both((card_list(hand.holes[0]), card_list(hand.holes[1]))),
        stacks=_both(hand.stacks_bb),
        results=_both(hand.results_bb),
        board=card_list(hand.board),
        pot=hand.kind,
        loss=hand.loss_bb,
        solution=hand.solution,
        solution_id=solution,
        solution_stack=hand.solution_stack_bb,
        stack=hand.stack_bb,
        notes=list(hand.notes),
        steps=[
            ReplayStep(
                street=street_of(step.street),
                board=card_list(step.board),
                player=PLAYER_NAMES[step.player],
                word=step.word,
                label=_label(step.word),
                pot=step.pot_bb,
                bets=_both(step.bets_bb),
                left=_both(step.left_bb),
                decision=at.get(place),
            )
            for place, step in enumerate(hand.steps())
        ],
        decisions=[_decision(one, hero) for one in hand.decisions],
    )


def _decision(one: GradedDecision, hero: Player) -> ReplayDecision:
    best = one.best
    return ReplayDecision(
        place=one.place,
        line=line_in_words(one.line),
        to_call=one.to_call_bb,
        taken=one.taken,
        counted_as=one.counted_as,
        best=None if best is None else best.action,
        loss=one.loss_bb,
        within=one.within_bb,
        note=one.note,
        judged_by=one.evaluated_by,
        options=_options(one),
        reach=_reach(one.ranges[hero], one.board),
        ev=_as_played(one),
    )


def _options(one: GradedDecision) -> list[ReplayOption]:
    strong = shades([option.action for option in one.options])
    return [
        ReplayOption(
            word=option.action,
            label=_label(option.action),
            short=f"{VERBS[option.action[0]][1]} {option.action[1:]}".strip(),
            tone=TONES.get(option.action[0], "aggressive"),
            shade=strong[place],
            frequency=option.frequency,
            ev=option.ev_bb,
            chances=list(one.strategy[place] if one.strategy else NO_CLASSES),
            evs=list(one.evs_bb[place] if one.evs_bb else NO_CLASSES),
        )
        for place, option in enumerate(one.options)
    ]


def _label(word: str) -> str:
    return f"{VERBS[word[0]][0]} {word[1:]} bb" if word[1:] else VERBS[word[0]][0]


def _reach(text: str, board: str) -> list[float]:
    """[169]: the mean weight of each class's combos that the board leaves."""
    if not text:
        return []
    live = live_combos(parse_board(board) if board else ())
    weights = Range.parse(text).weights * live
    combos = np.bincount(HAND_OF_COMBO[live], minlength=HAND_COUNT)
    held = np.bincount(HAND_OF_COMBO, weights, HAND_COUNT)
    means: list[float] = (held / np.maximum(combos, 1)).tolist()
    return means


def _as_played(one: GradedDecision) -> list[float | None]:
    """[169]: what each class gets by playing as the range does."""
    if not one.strategy or not one.evs_bb:
        return list(NO_CLASSES)
    played: list[float | None] = []
    for chances, evs in zip(
        zip(*one.strategy, strict=True), zip(*one.evs_bb, strict=True), strict=True
    ):
        taken = [(chance, ev) for chance, ev in zip(chances, evs, strict=True) if chance]
        known = bool(taken) and all(ev is not None for _, ev in taken)
        total = sum(chance for chance, _ in taken)
        won = sum(chance * (ev or 0.0) for chance, ev in taken)
        played.append(won / total if known else None)
    return played


def card_list(text: str) -> list[str]:
    """Cards written together, taken apart."""
    return [text[place : place + 2] for place in range(0, len(text), 2)]


def _both(pair: tuple[Found, Found]) -> dict[PlayerName, Found]:
    return {PLAYER_NAMES[player]: pair[player] for player in Player}
