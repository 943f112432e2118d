"""Hands that are played: honest deals and draws, and losses that are those of the solution."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from builders.explorer_solutions import folder, solver
from builders.self_play import FLOP, LIMPED, STACK, flop_solution
from builders.self_play import solution as self_play
from builders.small_spots import RIVER, spot
from builders.whole_solution import combo_result, solver_of, trips, whole_game
from builders.whole_solution import result as classes_result
from reference.chi_square import chi_square

from allstreets.base import InputError
from allstreets.betting import CHIPS_PER_BB, Player, Street
from allstreets.cards import (
    COMBO_CARDS,
    HAND_OF_COMBO,
    all_flops,
    canonical_flop,
    card_text,
    cards_text,
    parse_board,
    parse_combo,
    texture,
)
from allstreets.engines import CardModel
from allstreets.interop import PlayedHand
from allstreets.interop.played_hands import Ledger
from allstreets.solutions import ExactFlop, Solution, SpotSolution, WholeSolution
from allstreets.solvers import Completion, SpotSolver
from allstreets.storage import load_spot, save_unified
from allstreets.study import (
    Dealer,
    Effort,
    Hand,
    Session,
    SolvedGame,
    Wanted,
    deal_hand,
    draw_flop,
    load_playable,
    practice_note,
    review_hand,
)
from allstreets.study.practice import drawn_action

LEAST_CHANCE = 1e-3  # of a chi-square test with a fixed seed


@pytest.fixture(scope="module")
def turn() -> Solution:
    return load_playable(folder("turn"))


@pytest.fixture(scope="module")
def game() -> Solution:
    return classes_result()


@cache
def boards_result() -> WholeSolution:
    model = CardModel("boards", groups=16, rows=16)
    return WholeSolution.of(solver_of(whole_game(["KsKhKd"], 5, "100%", ()), 3, model))


@pytest.fixture(scope="module")
def boards() -> Solution:
    return boards_result()


def hands(
    on: Solution, count: int, hero: Player | None = None, seed: int = 1, **wanted: Sequence[str]
) -> list[Hand]:
    dealer = Dealer(on, Wanted.parse(**wanted))  # type: ignore[arg-type]
    return [
        deal_hand(dealer, Player(number % 2) if hero is None else hero, seed, number)
        for number in range(count)
    ]


def play_out(hand: Hand, choose: str = "first") -> Hand:
    """To the end: the first action, the last, check or call, or as the solution does."""
    chance = np.random.default_rng([hand.seed, hand.number, 7])
    while hand.question is not None:
        asked = hand.question
        action = {"first": 0, "last": len(asked.actions) - 1}.get(choose)
        if choose == "passive":
            action = next(place for place, word in enumerate(asked.actions) if word in "xc")
        elif action is None:
            mix = mix_of(hand)
            action = drawn_action(mix / mix.sum(), float(chance.random()))
        hand.answer(action)
    return hand


def mix_of(hand: Hand) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """[A]: what the solution does with the player's hand, read in another way than `Hand` does."""
    assert hand.question is not None
    here, combo = hand.question.decision, hand.deal.combos[hand.player]
    own = here.own.combos
    place = int(HAND_OF_COMBO[combo]) if own is None else own.tolist().index(combo)
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = np.maximum(here.strategy[:, place], 0.0)
    return found


def drawn(hand: Hand) -> int:
    """The place of the first action that the solution drew."""
    draw = hand.draws[0]
    return [label for label, _ in draw.mix].index(draw.action)


def test_first_actions_follow_the_solution(turn: Solution) -> None:
    """OOP's first actions, over all hands that he is dealt, have the frequencies of his range."""
    played = [drawn(hand) for hand in hands(turn, 700, Player.IP)]
    root = SpotSolution.of(solver("turn")).at("").decision
    counts = [played.count(action) for action in range(len(root.actions))]
    assert chi_square(counts, root.taken * len(played)) > LEAST_CHANCE
    wrong = np.full(len(counts), len(played) / len(counts))
    assert chi_square(counts, wrong) < LEAST_CHANCE  # the test sees a strategy that is not


def test_first_actions_of_a_whole_game(game: Solution) -> None:
    """Before the flop, given that the small blind does not fold: otherwise there is no question."""
    played = [drawn(hand) for hand in hands(game, 350, Player.OOP)]
    root = classes_result().at("").decision
    shares = root.taken * (np.array(root.actions) != "f")
    counts = np.array([played.count(action) for action in range(len(root.actions))])
    assert counts[root.actions.index("f")] == 0
    often = shares * len(played) / shares.sum() > 5
    expected = shares[often] * counts[often].sum() / shares[often].sum()
    assert chi_square(counts[often], expected) > LEAST_CHANCE


def test_draws_are_those_of_the_hand_that_is_held(turn: Solution) -> None:
    spot = SpotSolution.of(solver("turn"))
    seen = Counter[str]()
    for hand in hands(turn, 40):
        play_out(hand, "last")
        for draw in hand.draws:
            ends = np.cumsum([share for _, share in draw.mix])
            place = [word for word, _ in draw.mix].index(draw.action)
            assert ends[place] - draw.mix[place][1] <= draw.number <= ends[place] + 1e-9
            seen[draw.action] += 1
        first = hand.draws[0] if hand.draws else None
        if first is not None and hand.player == Player.IP:
            mix = spot.at("").decision.hand(hand.end.theirs if hand.end else "")
            shares = [share for _, share in first.mix]
            assert shares == pytest.approx(list(mix.frequencies.values()), abs=1e-6)
    assert len(seen) > 2


def test_ranges_at_the_end_of_a_line(turn: Solution) -> None:
    """Who gets to a line holds what the solution brings there."""
    found = hands(turn, 600, Player.IP, line="x")
    here = SpotSolution.of(solver("turn")).at("x").decision
    assert all(hand.question is not None and hand.question.node.line == "x" for hand in found)
    weights = np.bincount(here.own.classes, here.own.weights, minlength=169)
    held = Counter(int(HAND_OF_COMBO[hand.deal.combos[Player.IP]]) for hand in found)
    often = weights / weights.sum() * len(found) > 5
    counts = np.array([held[number] for number in np.flatnonzero(often).tolist()])
    assert sum(held.values()) - counts.sum() < 0.1 * len(found)
    expected = weights[often] * counts.sum() / weights[often].sum()
    assert chi_square(counts, expected) > LEAST_CHANCE
    assert all(weights[number] > 0 for number in held)


def test_cards_that_a_line_leaves_open(turn: Solution) -> None:
    """Rivers come as often as play gets there on each of them, not each as often as any other."""
    spot = SpotSolution.of(solver("turn"))
    cards = [card for card in range(52) if card not in spot.spot.cards]
    sizes = np.array(
        [spot.at(f"x x | {card_text(card)} | x").decision.own.weights.sum() for card in cards]
    )
    found = hands(turn, 160, Player.IP, line="x x | * | x")
    drawn = Counter(hand.deal.board[4] for hand in found)
    by_rank = [
        [place for place, card in enumerate(cards) if card // 4 == rank] for rank in range(13)
    ]
    expected = np.array([sizes[places].sum() for places in by_rank]) * len(found) / sizes.sum()
    counts = [sum(drawn[cards[place]] for place in places) for places in by_rank]
    assert chi_square(counts, expected) > LEAST_CHANCE


def test_flops_come_by_their_weights(game: Solution) -> None:
    found = hands(game, 200, Player.OOP, streets=["flop"])
    rows = classes_result().flops
    canonical = Counter(classes_place(hand) for hand in found)
    shares = np.array([row["share"] for row in rows])
    counts = [canonical[place] for place in range(len(rows))]
    assert chi_square(counts, shares / shares.sum() * sum(counts)) > LEAST_CHANCE
    assert len({hand.deal.board[:3] for hand in found}) > 3 * len(rows)  # in any suits


class EvenNumbers:
    """Replaces chance: numbers that lie evenly between 0 and 1, and suits as they are."""

    def __init__(self, count: int) -> None:
        self._numbers = iter((np.arange(count) + 0.5) / count)

    def random(self) -> float:
        return float(next(self._numbers))

    def integers(self, _: int) -> int:
        return 0


@cache
def weighted_result() -> WholeSolution:
    flops = ["Ks7h2d:3", "AsAhAd:1", "9s8s2d:0.25", "8s8h2d:5"]
    return WholeSolution.of(solver_of(whole_game(flops, 5, "100%", ()), 1))


@pytest.mark.parametrize("suits", [(), ("rainbow",), ("two-tone", "rainbow")])
@pytest.mark.parametrize("kind", ["whole game", pytest.param("preflop", marks=pytest.mark.long)])
def test_each_flop_has_exactly_its_share_of_deals(kind: str, suits: tuple[str, ...]) -> None:
    """Of all flops it is long: tens of thousands of deals."""
    if kind == "whole game":
        result = weighted_result()
        on: Solution = result
        known, weights = result.game.flops.flops, result.game.flops.weights
        assert weights.tolist() == [3 * 24, 4, 0.25 * 12, 5 * 12]
    else:
        on = load_playable(folder("preflop"))
        known = all_flops()
        weights = np.array([flop.multiplicity for flop in known], np.float64)
    wanted = Wanted.parse(suits=suits)
    weights = np.where([wanted.texture(flop.texture) for flop in known], weights, 0.0)
    assert len(set(weights[weights > 0].tolist())) > 1 or suits == ("rainbow",)
    deals = 40_000
    chance = EvenNumbers(deals)
    drawn = Counter(
        draw_flop(on, on.start, chance, wanted.texture)  # type: ignore[arg-type]
        for _ in range(deals)
    )
    places = {flop.number: place for place, flop in enumerate(known)}
    counts = np.zeros(len(known))
    for cards, count in drawn.items():
        counts[places[canonical_flop(cards).flop.number]] += count
    assert np.abs(counts - deals * weights / weights.sum()).max() <= 1


def classes_place(hand: Hand) -> int:
    place = classes_result().stored.place_of(canonical_flop(hand.deal.board[:3]).flop)
    assert place is not None
    return place


@pytest.mark.parametrize("name", ["turn", "game", "boards"])
def test_cards_fit(name: str, request: pytest.FixtureRequest) -> None:
    on: Solution = request.getfixturevalue(name)
    for hand in hands(on, 60):
        cards = [*hand.deal.board, *COMBO_CARDS[list(hand.deal.combos)].ravel().tolist()]
        assert len(set(cards)) == len(cards) == 9
        start = on.node(hand.deal.start).ranges
        assert all(start.combo_weights(player)[hand.deal.combos[player]] > 0 for player in Player)
        play_out(hand, "last")
        assert hand.end is not None
        shown = parse_board(hand.end.board) if hand.end.board else ()
        if hand.end.how == "showdown":
            assert len(shown) == 5
        assert not set(shown) & set(COMBO_CARDS[list(hand.deal.combos)].ravel().tolist())


def test_who_plays_the_solution_loses_nothing(turn: Solution, game: Solution) -> None:
    spot = solver("turn")
    losses = [play_out(hand, "mixed").loss_bb for hand in hands(turn, 80)]
    worth = spot.exploitability()  # chips: what best responses gain
    assert 0 <= np.mean(losses) <= 2 * worth
    others = [play_out(hand, "last").loss_bb for hand in hands(turn, 40)]
    assert np.mean(others) > 5 * worth
    losses = [play_out(hand, "mixed").loss_bb for hand in hands(game, 40)]
    exploitability = classes_result().exploitability
    assert exploitability is not None
    assert np.mean(losses) <= 2 * exploitability / 1000


def test_losses_are_those_of_the_node(turn: Solution) -> None:
    spot, graded = SpotSolution.of(solver("turn")), 0
    for hand in hands(turn, 30):
        play_out(hand, "last")
        for one in hand.answers:
            node = spot.at(one.line).decision
            place = node.combos.tolist().index(parse_combo(one.cards))
            evs = node.action_evs[:, place]
            taken = node.actions.index(one.taken)
            assert [option.frequency for option in one.options] == pytest.approx(
                node.strategy[:, place], abs=1e-5
            )
            if one.loss_bb is None or np.isnan(evs).any():
                continue
            assert one.loss_bb == pytest.approx(evs.max() - evs[taken], abs=1e-5)
            graded += 1
    assert graded > 30


def written_down(hand: Hand) -> PlayedHand:
    """A hand that ended before the flop, as a history has it."""
    stack, blind = Fraction(20), Fraction(1)
    ledger = Ledger(("bob", "ann"), (stack, stack), blind)
    ledger.post_blind(Player.IP, blind / 2)
    ledger.post_blind(Player.OOP, blind)
    tree = hand.node.tree
    for node in tree.path_to(hand.node.index)[1:]:
        action = tree.actions[node]
        assert action is not None
        player = tree.player_at(int(tree.parent[node]))
        ledger.act(Street.PREFLOP, player, action.kind, Fraction(str(action.amount)) / CHIPS_PER_BB)
    oop, ip = (hand.deal.cards(player) for player in Player)
    nothing = Fraction(0), Fraction(0)
    return ledger.end(name="a hand", holes=(oop, ip), board=hand.deal.board, results=nothing)


def test_losses_are_those_of_the_review(game: Solution) -> None:
    """The same hand, written down, costs the same in `allstreets review`."""
    compared, evaluator = 0, SolvedGame("classes", classes_result())
    for hand in hands(game, 24, seed=9):
        play_out(hand, "last" if hand.number % 3 else "first")
        assert hand.end is not None
        if hand.node.position.root is not None or hand.end.how == "stopped":
            continue
        reviewed = review_hand(written_down(hand), hand.player, evaluator, Effort())
        for one, mine in zip(reviewed.decisions, hand.answers, strict=True):
            assert (mine.line, mine.cards) == (one.line, reviewed.cards)
            assert (mine.taken, mine.options) == (one.counted_as, one.options)
            assert mine.loss_bb == one.loss_bb
            compared += 1
    assert compared >= 15


def test_amounts_are_in_big_blinds() -> None:
    """A spot may say what a big blind is; else a chip counts as one."""
    solved = SpotSolver(spot(RIVER, chips_per_bb=10))
    solved.train_batch(40)
    tenth, chips = SpotSolution.of(solved), SpotSolution.of(solver("river"))
    notes = practice_note(tenth), "a chip counts as one" in practice_note(chips)
    assert notes == ("", True)
    compared = 0
    for one, other in zip(hands(tenth, 20), hands(chips, 20), strict=True):
        assert one.question is not None
        assert other.question is not None
        assert one.question.pot_bb == pytest.approx(other.question.pot_bb / 10)
        if "bet 5 bb (50 %)" in one.question.labels:
            assert "bet 50 bb (50 %)" in other.question.labels
            compared += 1
        small, large = one.answer(1), other.answer(1)
        assert small.loss_bb == pytest.approx(large.loss_bb and large.loss_bb / 10, abs=1e-5)
    assert compared


def test_the_hand_goes_on_after_a_mistake(turn: Solution) -> None:
    """A hand that was played otherwise than the solution plays it has EVs later on."""
    later = 0
    for hand in hands(turn, 60, Player.OOP):
        assert hand.question is not None
        mix = mix_of(hand)
        hand.answer(int(np.argmin(mix)))
        while hand.question is not None:
            answer = hand.answer(0)
            later += mix.min() < 0.01 and answer.loss_bb is not None
    assert later > 5


def test_the_same_seed_is_the_same_hand(game: Solution) -> None:
    one, other = ([play_out(hand) for hand in hands(game, 12, seed=5)] for _ in range(2))
    assert [hand.deal for hand in one] == [hand.deal for hand in other]
    assert [hand.draws for hand in one] == [hand.draws for hand in other]
    assert [hand.deal for hand in hands(game, 12, seed=6)] != [hand.deal for hand in one]


def test_filters(game: Solution) -> None:
    for hand in hands(game, 15, pots=["raised"], streets=["flop,turn"], suits=["rainbow"]):
        play_out(hand)
        assert hand.answers
        for one in hand.answers:
            assert one.pot_kind == "raised"
            assert one.street in ("flop", "turn")
            assert texture(parse_board(one.board)).suits == "rainbow"
    for hand in hands(game, 10, Player.OOP, line="r2.5 c | * | x b100%"):
        assert hand.question is not None
        assert hand.question.node.line.startswith("r2.5 c | ")
        assert hand.question.node.line.endswith(" | x b100%")
        assert hand.question.node.street == Street.FLOP


def test_streets_without_cards(game: Solution) -> None:
    """Hand classes are blind to turn and river: no card is shown before the showdown."""
    assert "does not see turn and river" in practice_note(game)
    streets = set[str]()
    for hand in hands(game, 20, line="c x"):
        play_out(hand, "passive")
        streets.update(one.street for one in hand.answers)
        assert all(len(one.board) == 6 for one in hand.answers)
    assert streets == {"flop", "turn", "river"}


def test_real_boards(boards: Solution) -> None:
    assert practice_note(boards) == ""
    lengths = set()
    for hand in hands(boards, 5, line="c x"):
        while hand.question is not None:
            asked = hand.question
            lengths.add(len(asked.node.board))
            assert len(asked.node.board) == asked.node.street + 2
            assert len(asked.decision.combos) > 900
            answer = hand.answer(0)
            mix = boards_result().strategy(asked.node.line, hand=cards_text(asked.cards))
            shown = {option.action: option.frequency for option in answer.options}
            assert shown == pytest.approx(mix, abs=1e-5)  # in whichever suits the flop was dealt
            if answer.loss_bb is not None:
                evs = [option.ev_bb for option in answer.options if option.ev_bb is not None]
                taken = next(one.ev_bb for one in answer.options if one.action == answer.taken)
                assert taken is not None
                assert answer.loss_bb == pytest.approx(max(evs) - taken, abs=1e-5)
    assert lengths == {3, 4, 5}


def test_exact_games_end_with_the_flop() -> None:
    """And a hand ends where nothing was learned, however it got there."""
    on = combo_result()
    assert "hands end there" in practice_note(on)
    assert on.streets == (Street.PREFLOP, Street.FLOP)
    deal = on.at("c x | 7s7h7d | x x").deal
    assert deal is not None
    assert not deal.stored
    for hand in hands(on, 4, Player.OOP, line="c"):
        play_out(hand, "passive")
        assert [one.street for one in hand.answers] == ["preflop", "flop"]
        assert "hardly ever does this" in hand.answers[-1].note  # it always bets there
        assert hand.end is not None
        assert "never gets here: BB does so with" in hand.end.text


class OneExactFlop:
    """The limped pot of a game, solved exactly on its flop."""

    every = False

    def __init__(self, solution: WholeSolution) -> None:
        self._solution = solution

    def find(self, root: int, flop: tuple[int, ...]) -> ExactFlop | None:
        if root != self._solution.roots.read(LIMPED):
            return None
        reach, pot = self._solution.roots.reach(root), self._solution.stored.pot(root)
        return ExactFlop(flop_solution(), pot, reach, flop)

    def refresh(self) -> None:
        """There is nothing new to find."""


def test_flops_that_were_solved_exactly_are_played_to_the_river() -> None:
    """Though the game itself stores no turn; losses are those of the spot, in big blinds."""
    own = self_play()
    on = WholeSolution(own.roots, own.below, own.facts)
    on.exact_flops = OneExactFlop(on)
    streets, compared = set[str](), 0
    for hand in hands(on, 12, line=f"{LIMPED} | {FLOP}"):
        play_out(hand, "passive")
        assert hand.end is not None
        assert hand.end.how in ("showdown", "fold", "stopped")
        for one in hand.answers:
            streets.add(one.street)
            assert len(parse_board(one.board)) == ["flop", "turn", "river"].index(one.street) + 3
            assert one.line.startswith(f"{LIMPED} | {FLOP}")
            known = [option.ev_bb for option in one.options if option.ev_bb is not None]
            taken = next(option.ev_bb for option in one.options if option.action == one.taken)
            if one.loss_bb is not None and taken is not None:
                assert one.loss_bb == pytest.approx(max(known) - taken, abs=1e-5)
                node = on.at(one.line).decision
                place = node.combos.tolist().index(parse_combo(one.cards))
                evs = node.action_evs[:, place]
                assert taken == pytest.approx(evs[node.actions.index(one.taken)], abs=1e-5)
                compared += 1
        if hand.end.how == "showdown":
            assert hand.end.won_bb is not None
            assert abs(hand.end.won_bb) <= STACK
    assert streets == {"flop", "turn", "river"}
    assert compared > 12


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"streets": ["flopp"]}, "did you mean 'flop'"),
        ({"pots": ["5bet"]}, "is no pot"),
        ({"line": "r2.5 f"}, "the hand is over"),
        ({"line": "r9"}, "not offered"),
        ({"line": "c x | 9h8h7h"}, "is not among the"),
        ({"suits": ["monotone"], "pairings": ["trips"]}, "no flop of this solution"),
        ({"line": "r2.5 c | x", "pots": ["limped"]}, "leads to a raised pot"),
        ({"streets": ["preflop"], "pots": ["raised"]}, "hands that see a flop"),
    ],
)
def test_errors(game: Solution, wanted: dict[str, Sequence[str]], message: str) -> None:
    def begin() -> None:
        parsed = Wanted.parse(**wanted)  # type: ignore[arg-type]
        parsed.check(game)
        deal_hand(Dealer(game, parsed), Player.OOP, 1, 1)

    with pytest.raises(InputError, match=message):
        begin()


def test_spots_have_one_pot(turn: Solution) -> None:
    with pytest.raises(InputError, match="leave kinds of pot and textures out"):
        Wanted.parse(pots=["3bet"]).check(turn)
    with pytest.raises(InputError, match="choose from turn, river"):
        Wanted.parse(streets=["flop"]).check(turn)
    with pytest.raises(InputError, match="flops solved one by one"):
        load_playable(folder("models"))
    with pytest.raises(InputError, match="all-in"):
        load_playable(folder("all-in"))


def test_any_flop_is_dealt_and_drafted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that plays hand classes on three flops, with real cards on any."""
    few = Completion(CardModel("boards", groups=16, rows=32), 8)
    monkeypatch.setattr("allstreets.jobs.spot.DRAFT", few)
    save_unified(trips(), tmp_path / "trips", config={})
    drafted: list[str] = []
    solution = load_playable(tmp_path / "trips", drafts=True, announce=drafted.append)
    assert solution.limits == ""
    session = Session(solution, Player.OOP, Wanted.parse(["flop"], [], "c x"), 5, None)
    hand = session.deal()
    question = hand.question
    assert question is not None
    board = question.node.board
    assert drafted == [cards_text(board)]
    assert question.node.source.startswith("a draft, within ")
    kept = load_spot(next((tmp_path / "trips" / "spots").iterdir()))
    assert kept.draft == few.model
    assert question.decision.hands[0].combos is not None  # not hand classes
    # The turn has a card, and the flop is there now.
    turn = solution.at(f"c x | {cards_text(board)} | x x").children
    assert len(turn) == 49
    solution.at(f"c x | {cards_text(board)}")
    assert len(drafted) == 1
    with pytest.raises(InputError, match="only flops of whole games are drafted"):
        load_playable(next((tmp_path / "trips" / "spots").iterdir()), drafts=True)
