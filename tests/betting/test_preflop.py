"""The tree of the betting before the flop: by hand, by a slow twin, and laws of every game."""

import numpy as np
import pytest
from betting.random_preflop import Game, preflop_games
from hypothesis import given, settings
from reference.preflop import NaivePreflop

from allstreets.base import InputError
from allstreets.betting import (
    BIG_BLINDS,
    IP,
    OOP,
    ActionKind,
    BettingTree,
    NodeKind,
    Outcome,
    PreflopRules,
    Street,
    build_preflop_tree,
    line_text,
    neat,
    parse_line,
    payoffs,
    rakes,
)

# Every node of 20 bb, raises to 2.5 times the last bet, at most four: who acts or how it ended, and
# what BB and SB have put in. 2.5 · 6.25 bb = 15.625 bb is 1563 chips.
TWENTY_BIG_BLINDS = """
: SB 100 50
f: fold 100 50
c: BB 100 100
c x: flop 100 100
c r2.5: SB 250 100
c r2.5 f: fold 250 100
c r2.5 c: flop 250 250
c r2.5 r6.25: BB 250 625
c r2.5 r6.25 f: fold 250 625
c r2.5 r6.25 c: flop 625 625
c r2.5 r6.25 r15.63: SB 1563 625
c r2.5 r6.25 r15.63 f: fold 1563 625
c r2.5 r6.25 r15.63 c: flop 1563 1563
c r2.5 r6.25 r15.63 a: BB 1563 2000
c r2.5 r6.25 r15.63 a f: fold 1563 2000
c r2.5 r6.25 r15.63 a c: all-in 2000 2000
c r2.5 r6.25 a: SB 2000 625
c r2.5 r6.25 a f: fold 2000 625
c r2.5 r6.25 a c: all-in 2000 2000
c r2.5 a: BB 250 2000
c r2.5 a f: fold 250 2000
c r2.5 a c: all-in 2000 2000
c a: SB 2000 100
c a f: fold 2000 100
c a c: all-in 2000 2000
r2.5: BB 100 250
r2.5 f: fold 100 250
r2.5 c: flop 250 250
r2.5 r6.25: SB 625 250
r2.5 r6.25 f: fold 625 250
r2.5 r6.25 c: flop 625 625
r2.5 r6.25 r15.63: BB 625 1563
r2.5 r6.25 r15.63 f: fold 625 1563
r2.5 r6.25 r15.63 c: flop 1563 1563
r2.5 r6.25 r15.63 a: SB 2000 1563
r2.5 r6.25 r15.63 a f: fold 2000 1563
r2.5 r6.25 r15.63 a c: all-in 2000 2000
r2.5 r6.25 a: BB 625 2000
r2.5 r6.25 a f: fold 625 2000
r2.5 r6.25 a c: all-in 2000 2000
r2.5 a: SB 2000 250
r2.5 a f: fold 2000 250
r2.5 a c: all-in 2000 2000
a: BB 100 2000
a f: fold 100 2000
a c: all-in 2000 2000
"""
ENDS = {NodeKind.FOLD: "fold", NodeKind.SHOWDOWN: "all-in", NodeKind.CHANCE: "flop"}


def written_out(tree: BettingTree) -> list[str]:
    """A tree in the way of the table above."""
    return [
        f"{line_text(tree, node, notation=BIG_BLINDS)}: "
        + (ENDS[NodeKind(kind)] if kind in ENDS else tree.player_at(node).seat)
        + f" {tree.invested[node, OOP]} {tree.invested[node, IP]}"
        for node, kind in enumerate(tree.kind.tolist())
    ]


def offered(tree: BettingTree, line: str) -> list[tuple[ActionKind, float]]:
    """Raises and all-ins where a line leads, in chips."""
    actions = tree.actions_at(parse_line(tree, line, notation=BIG_BLINDS).node)
    return [(action.kind, action.amount) for action in actions if action.is_aggressive]


def amounts(tree: BettingTree, line: str) -> list[float]:
    return [amount for _, amount in offered(tree, line)]


def tree_of(*args: object, **keys: object) -> BettingTree:
    return build_preflop_tree(PreflopRules.parse(*args, **keys))  # type: ignore[arg-type]


def raises_before(tree: BettingTree, node: int) -> int:
    actions = [tree.actions[step] for step in tree.path_to(node)]
    return sum(action is not None and action.is_aggressive for action in actions)


def test_twenty_big_blinds_by_hand() -> None:
    tree = tree_of(20, [2.5], 4)
    assert written_out(tree) == TWENTY_BIG_BLINDS.removeprefix("\n").splitlines()
    assert (tree.street == Street.PREFLOP).all()
    assert (tree.pot, tree.stack) == (0, 2000)
    assert tree.pot_at(0) == 150


@settings(max_examples=200)
@given(preflop_games())
def test_every_node_is_the_slow_twin_s(game: Game) -> None:
    written, rules, tree = game
    results = payoffs(tree, rules)
    nodes = list(NaivePreflop(**written).nodes())
    assert len(nodes) == tree.node_count
    seats = {"BB": OOP, "SB": IP}
    kinds = {"fold": NodeKind.FOLD, "showdown": NodeKind.SHOWDOWN, "flop": NodeKind.CHANCE}
    for node, theirs in enumerate(nodes):
        assert line_text(tree, node, notation=BIG_BLINDS) == theirs.line
        if theirs.what in seats:
            assert tree.kind[node] == NodeKind.DECISION
            assert tree.player_at(node) == seats[theirs.what]
        else:
            assert tree.kind[node] == kinds[theirs.what]
        for seat, player in seats.items():
            assert tree.invested[node, player] == float(100 * theirs.put_in[seat])
            expected = theirs.results[seat] if theirs.results else (0, 0, 0)
            wanted = [float(100 * value) for value in expected]
            np.testing.assert_allclose(results[node, player], wanted, rtol=0, atol=1e-7)


@given(preflop_games())
def test_all_in_is_offered_once_wherever_the_other_has_not_bet_it(game: Game) -> None:
    """Unless it is withheld where stacks are deep."""
    _, rules, tree = game
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        kinds = [action.kind for action in tree.actions_at(node)]
        player = tree.player_at(node)
        other_is_all_in = tree.invested[node, player.opponent] == rules.playing_stack
        count = kinds.count(ActionKind.ALL_IN)
        assert count <= (0 if other_is_all_in else 1)
        assert (kinds[-1] == ActionKind.ALL_IN) == bool(count)
        if not other_is_all_in:
            behind = rules.playing_stack - tree.invested[node, player.opponent]
            pot = rules.bb_ante + 2 * tree.invested[node, player.opponent]
            assert count or (rules.allin_spr is not None and behind > rules.allin_spr * pot)
        facing = tree.invested[node, player.opponent] > tree.invested[node, player]
        passive = [ActionKind.FOLD, ActionKind.CALL] if facing else [ActionKind.CHECK]
        if node == 0 and not rules.limp and not other_is_all_in:
            passive = [ActionKind.FOLD]
        assert [kind for kind in kinds if kind < ActionKind.BET] == passive


@given(preflop_games())
def test_raises_are_legal_bounded_and_listed_once(game: Game) -> None:
    _, rules, tree = game
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        player = tree.player_at(node)
        own, last = (
            neat(tree.invested[node, p].item() - rules.ante) for p in (player, player.opponent)
        )
        found = [action.amount for action in tree.actions_at(node) if action.is_aggressive]
        assert found == sorted(set(found))
        for action in tree.actions_at(node):
            if action.kind == ActionKind.RAISE:
                assert action.amount >= neat(last + max(rules.big_blind, last - own))
                assert rules.raise_cap is None or raises_before(tree, node) < rules.raise_cap
            elif action.kind == ActionKind.ALL_IN:
                assert action.amount == neat(rules.playing_stack - rules.ante) > last


@given(preflop_games())
def test_the_tree_ends_with_the_street(game: Game) -> None:
    _, rules, tree = game
    assert (tree.invested <= rules.playing_stack).all()
    assert (tree.street == Street.PREFLOP).all()
    decision = tree.kind == NodeKind.DECISION
    assert ((tree.child_count > 0) == decision).all()
    assert ((tree.player >= 0) == (decision | (tree.kind == NodeKind.FOLD))).all()
    for node in np.flatnonzero(~decision).tolist():
        oop, ip = tree.invested[node].tolist()
        if tree.kind[node] == NodeKind.SHOWDOWN:
            assert oop == ip == rules.playing_stack
        elif tree.kind[node] == NodeKind.CHANCE:
            assert oop == ip < rules.playing_stack
            assert oop >= rules.ante + rules.big_blind
        else:
            folder = int(tree.player[node])
            free = rules.small_blind == rules.big_blind and tree.parent[node] == 0
            assert tree.invested[node, folder] < tree.invested[node, 1 - folder] or free


@given(preflop_games())
def test_chips_are_conserved_and_a_fold_loses_what_was_put_in(game: Game) -> None:
    _, rules, tree = game
    results, rake = payoffs(tree, rules), rakes(tree, rules)
    shown, folded = tree.kind == NodeKind.SHOWDOWN, tree.kind == NodeKind.FOLD
    for outcome, other in ((Outcome.WIN, Outcome.LOSE), (Outcome.TIE, Outcome.TIE)):
        total = results[shown, OOP, outcome] + results[shown, IP, other]
        np.testing.assert_allclose(total, -rake[shown], rtol=0, atol=1e-7)
    for node in np.flatnonzero(folded).tolist():
        folder = int(tree.player[node])
        lost = tree.invested[node, folder].item() + (rules.bb_ante if folder == OOP else 0)
        assert results[node, folder].tolist() == pytest.approx([-lost] * 3, abs=1e-7)
        won = lost if rules.no_flop_no_drop or not rules.rake else lost - rake[node]
        assert results[node, 1 - folder].tolist() == pytest.approx([won] * 3, abs=1e-7)
    assert not results[~tree.is_terminal].any()


@pytest.mark.parametrize("no_flop_no_drop", [True, False])
def test_rake_by_hand(no_flop_no_drop: bool) -> None:
    """5 %, at most 1.2 bb, ante 0.1 bb: folds are raked only where the rule says so."""
    rules = PreflopRules.parse(
        20, 2.5, ante=0.1, rake=0.05, rake_cap=1.2, no_flop_no_drop=no_flop_no_drop
    )
    tree = build_preflop_tree(rules)
    results = payoffs(tree, rules)

    def at(line: str) -> list[list[float]]:
        found: list[list[float]] = results[
            parse_line(tree, line, notation=BIG_BLINDS).node
        ].tolist()
        return found

    # Matched are 2 · 0.6 bb, then 2 · 2.6 bb: the rest of a bet goes back and is never raked.
    small, large = (0, 0) if no_flop_no_drop else (6, 26)
    assert at("f") == [[60 - small] * 3, [-60] * 3]
    assert at("r2.5 r6.25 f") == [[260 - large] * 3, [-260] * 3]
    assert at("r2.5 a f") == [[260 - large] * 3, [-260] * 3]
    # 5 % of 40 bb would be 2 bb.
    assert at("a c") == [[2000 - 120, -60, -2000]] * 2
    assert at("r2.5 c") == [[0] * 3] * 2


def test_levels_of_sizes_and_the_last_one_for_all_later_raises() -> None:
    tree = tree_of(1000, [2, [3, "10bb"], 2.2], 5)
    assert amounts(tree, "") == [200, 100_000]
    assert amounts(tree, "r2") == [600, 1000, 100_000]
    assert amounts(tree, "r2 r6") == [1320, 100_000]
    assert amounts(tree, "r2 r6 r13.2") == [2904, 100_000]
    assert amounts(tree, "c r2") == [600, 1000, 100_000]


def test_sizes_by_player() -> None:
    """The big blind raises a limp to 3.5 bb, although the small blind opens to 2.5 bb."""
    tree = tree_of(100, {"sb": [2.5, 3], "bb": [3.5, 4]})
    assert amounts(tree, "") == [250, 10_000]
    assert amounts(tree, "c") == [350, 10_000]
    assert amounts(tree, "c r3.5") == [1050, 10_000]
    assert amounts(tree, "r2.5") == [1000, 10_000]


@pytest.mark.parametrize(
    ("size", "amount"),
    [
        ("3x", 300),
        ("4bb", 400),
        ("333c", 333),
        ("50%", 210),  # 100 + half of what is in the middle after calling: 2 · 110
        ("1.5x", 200),  # not legal: by a big blind at least
        ("150c", 200),
        ("e", 330),  # (1 + 2r)⁴ = 1 + 2 · 9890 / 220 gives r = 1.044; 100 + 1.044 · 220
    ],
)
def test_every_form_of_size_with_an_ante(size: str, amount: int) -> None:
    tree = tree_of(100, [size], ante=0.1)
    assert amounts(tree, "") == [amount, 9990]


def test_the_smallest_raise_over_a_limp_is_by_a_big_blind() -> None:
    tree = tree_of(100, ["1c"], None)
    assert amounts(tree, "")[0] == 200
    assert amounts(tree, "c")[0] == 200
    assert amounts(tree, "r2")[0] == 300
    assert amounts(tree, "r2 r3 r4")[0] == 500


def test_past_the_cap_there_is_the_all_in() -> None:
    tree = tree_of(100, [2.5], 2)
    assert offered(tree, "r2.5") == [(ActionKind.RAISE, 625), (ActionKind.ALL_IN, 10_000)]
    assert offered(tree, "r2.5 r6.25") == [(ActionKind.ALL_IN, 10_000)]
    assert offered(tree_of(100, [2.5], 0), "") == [(ActionKind.ALL_IN, 10_000)]


def test_without_sizes_there_is_push_fold_and_limp() -> None:
    assert written_out(tree_of(10, [])) == [
        ": SB 100 50", "f: fold 100 50", "c: BB 100 100", "c x: flop 100 100",
        "c a: SB 1000 100", "c a f: fold 1000 100", "c a c: all-in 1000 1000",
        "a: BB 100 1000", "a f: fold 100 1000", "a c: all-in 1000 1000",
    ]  # fmt: skip
    assert written_out(tree_of(10, ["a"])) == written_out(tree_of(10, []))


def test_sizes_at_the_stack_or_close_to_it_are_the_all_in_once() -> None:
    assert amounts(tree_of(2.5, [[2.5, "250c", "300%"]]), "") == [250]
    assert amounts(tree_of(2.51, [[2.5, "250c"]]), "") == [250, 251]
    # 0.51 bb behind 5 bb in the middle.
    assert amounts(tree_of(3.01, [2.5], force_allin_threshold=0.1), "") == [250, 301]
    assert amounts(tree_of(3.0, [2.5], force_allin_threshold=0.1), "") == [300]


def test_one_and_a_half_big_blinds() -> None:
    """A raise that is too small to be legal is legal as an all-in."""
    assert written_out(tree_of(1.5)) == [
        ": SB 100 50", "f: fold 100 50", "c: BB 100 100", "c x: flop 100 100",
        "c a: SB 150 100", "c a f: fold 150 100", "c a c: all-in 150 150",
        "a: BB 100 150", "a f: fold 100 150", "a c: all-in 150 150",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stack", "ante", "nodes"),
    [
        # The big blind is all-in with what he posts, and the small blind decides alone.
        (1, 0, [": SB 100 50", "f: fold 100 50", "c: all-in 100 100"]),
        (0.75, 0, [": SB 75 50", "f: fold 75 50", "c: all-in 75 75"]),
        (1, 0.3, [": SB 100 80", "f: fold 100 80", "c: all-in 100 100"]),
        # Both are all-in with what they post.
        (0.5, 0, [": all-in 50 50"]),
        (1, 0.5, [": all-in 100 100"]),
        (1, 1, [": all-in 100 100"]),
        (0.3, 1, [": all-in 30 30"]),
    ],
)
def test_stacks_that_the_blinds_put_all_in(stack: float, ante: float, nodes: list[str]) -> None:
    rules = PreflopRules.parse(stack, ante=ante)
    tree = build_preflop_tree(rules)
    assert written_out(tree) == nodes
    last = payoffs(tree, rules)[-1].tolist()
    assert last == [[rules.stack, 0, -rules.stack]] * 2


def test_equal_blinds_let_the_small_blind_check() -> None:
    tree = tree_of(5, [3], small_blind=1)
    assert written_out(tree)[:3] == [": SB 100 100", "x: BB 100 100", "x x: flop 100 100"]


def test_two_hundred_big_blinds() -> None:
    tree = tree_of(200, [2.5], 4)
    assert amounts(tree, "r2.5 r6.25 r15.63") == [3908, 20_000]  # 2.5 · 1563 = 3907.5
    assert amounts(tree, "r2.5 r6.25 r15.63 r39.08") == [20_000]


def test_long_lines_of_smallest_raises_are_built() -> None:
    tree = tree_of(1500, ["1c"], None)
    line = "r2 " + " ".join(f"r{n}" for n in range(3, 1400))
    assert amounts(tree, line) == [140_000, 150_000]


def test_a_tree_that_is_too_large_says_what_to_reduce() -> None:
    rules = PreflopRules.parse(1000, [["1c", 2.5, 3]], None)
    with pytest.raises(InputError) as caught:
        build_preflop_tree(rules, 5000)
    assert str(caught.value) == (
        "the preflop tree has more than 5,000 nodes: use fewer or larger raise sizes, a smaller "
        "stack, a lower raise_cap or a higher force_allin_threshold"
    )


def test_sizes_by_name_and_the_all_in_where_stacks_are_short_enough() -> None:
    """All-in is offered at a stack-to-pot ratio of 4 at most; what is not named is all-in only."""
    named = {"open": [2.5], "over_limp": "3bb", "3bet": {"bb": ["9bb"], "sb": 3}, "4bet": 2.3}
    tree = tree_of(40, named, None, allin=4)
    assert amounts(tree, "") == [250]
    assert amounts(tree, "c") == [300]
    assert amounts(tree, "c r3") == [900]  # 37 bb behind 6 bb
    assert amounts(tree, "r2.5") == [900]
    assert offered(tree, "r2.5 r9") == [(ActionKind.RAISE, 2070), (ActionKind.ALL_IN, 4000)]
    assert amounts(tree, "r2.5 r9 r20.7") == [4000]


def test_push_or_fold() -> None:
    assert written_out(tree_of(10, [], limp=False)) == [
        ": SB 100 50", "f: fold 100 50",
        "a: BB 100 1000", "a f: fold 100 1000", "a c: all-in 1000 1000",
    ]  # fmt: skip


def test_without_all_in_and_sizes_a_raise_can_only_be_called() -> None:
    assert amounts(tree_of(20, [], allin="never"), "") == []
    tree = tree_of(100, [2.5], 2, allin="never")
    assert amounts(tree, "r2.5") == [625]
    assert amounts(tree, "r2.5 r6.25") == []
    # A size that reaches the stack is the all-in all the same.
    assert offered(tree_of(5, [2.5, 2.5], allin="never"), "r2.5") == [(ActionKind.ALL_IN, 500)]
    with pytest.raises(InputError, match="without the limp the small blind could only fold: give"):
        tree_of(20, [], limp=False, allin="never")


def test_calling_a_big_blind_who_is_all_in_is_no_limp() -> None:
    assert written_out(tree_of(1, limp=False)) == written_out(tree_of(1))


def test_a_big_blind_ante_by_hand() -> None:
    """1 bb of ante in the middle from the start, 9 bb to bet: folding loses the ante."""
    rules = PreflopRules.parse(10, [2.5], bb_ante=1)
    tree = build_preflop_tree(rules)
    assert (tree.pot, tree.stack, tree.pot_at(0)) == (100, 900, 250)
    assert amounts(tree, "") == [250, 900]
    results = payoffs(tree, rules)
    folded, bb_folded, shown = (
        parse_line(tree, line, notation=BIG_BLINDS).node for line in ("f", "a f", "a c")
    )
    assert results[folded, :, 0].tolist() == [50, -50]
    assert results[bb_folded, :, 0].tolist() == [-200, 200]
    assert results[shown].tolist() == [[900, -50, -1000], [1000, 50, -900]]
