"""Drawings of preflop trees."""

from betting.random_preflop import Game, preflop_games
from hypothesis import given

from allstreets.betting import (
    BIG_BLINDS,
    NodeKind,
    PreflopRules,
    action_label,
    build_preflop_tree,
    draw_tree,
    flop_pots,
)

THREE_BIG_BLINDS = """
SB: 3 bb, blinds 0.5/1 bb, ante 0.1 bb
├─ fold → BB wins 0.6 bb
├─ limp → BB
│  ├─ check → flop, limped pot: 2.2 bb, 1.9 bb behind, SPR 0.864, 12 nodes
│  ├─ raise to 2 bb → SB
│  │  ├─ fold → BB wins 1.1 bb
│  │  ├─ call → flop, raised pot: 4.2 bb, 0.9 bb behind, SPR 0.214
│  │  └─ all-in 2.9 bb → BB
│  │     ├─ fold → SB wins 2.1 bb
│  │     └─ call → all-in, pot 6 bb
│  └─ all-in 2.9 bb → SB
│     ├─ fold → BB wins 1.1 bb
│     └─ call → all-in, pot 6 bb
├─ raise to 2 bb → BB
│  ├─ fold → SB wins 1.1 bb
│  ├─ call → flop, raised pot: 4.2 bb, 0.9 bb behind, SPR 0.214
│  └─ all-in 2.9 bb → SB
│     ├─ fold → BB wins 2.1 bb
│     └─ call → all-in, pot 6 bb
└─ all-in 2.9 bb → BB
   ├─ fold → SB wins 1.1 bb
   └─ call → all-in, pot 6 bb
"""


def test_three_big_blinds_by_hand() -> None:
    rules = PreflopRules.parse(3, [2], ante=0.1)
    tree = build_preflop_tree(rules)
    drawing = draw_tree(tree, rules, {flop_pots(tree)[0]: "12 nodes"})
    assert drawing == THREE_BIG_BLINDS.strip().splitlines()


def test_a_fold_wins_what_the_rake_leaves() -> None:
    rules = PreflopRules.parse(20, rake=0.05, no_flop_no_drop=False)
    drawing = draw_tree(build_preflop_tree(rules), rules)
    assert drawing[1] == "├─ fold → BB wins 0.45 bb"


def test_a_hand_that_the_blinds_decide() -> None:
    rules = PreflopRules.parse(0.5)
    drawing = draw_tree(build_preflop_tree(rules), rules)
    assert drawing == ["all-in, pot 1 bb: 0.5 bb, blinds 0.5/1 bb"]


@given(preflop_games())
def test_one_line_a_node_and_the_depth_is_the_margin(game: Game) -> None:
    _, rules, tree = game
    drawing = draw_tree(tree, rules)
    assert len(drawing) == tree.node_count
    for node, line in list(enumerate(drawing))[1:]:
        depth = len(tree.path_to(node)) - 2
        assert set(line[: 3 * depth]) <= set("│ ")
        assert line[3 * depth : 3 * depth + 3] in ("├─ ", "└─ ")
        label, end = line[3 * depth + 3 :].split(" → ")
        assert label == action_label(tree, node, BIG_BLINDS)
        is_decision = tree.kind[node] == NodeKind.DECISION
        assert (end in ("SB", "BB")) == is_decision
