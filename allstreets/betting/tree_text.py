"""Drawing a preflop tree as text.

SB: 20 bb, blinds 0.5/1 bb
├─ fold → BB wins 0.5 bb
├─ limp → BB
│  ├─ check → flop, limped pot: 2 bb, 19 bb behind, SPR 9.5
"""

from collections.abc import Mapping

from allstreets.betting.flop_pots import FlopPot, flop_pots
from allstreets.betting.payoffs import Outcome, payoffs
from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.rules_text import posted_text
from allstreets.betting.table import IP, Player, bb_text
from allstreets.betting.tree import BettingTree, NodeKind
from allstreets.betting.words import BIG_BLINDS, action_label


def draw_tree(
    tree: BettingTree, rules: PreflopRules, notes: Mapping[FlopPot, str] | None = None
) -> list[str]:
    """The lines of a drawing of a preflop tree; a note stands behind its flop pot."""
    ends = _ends(tree, rules, notes or {})
    head = f"{bb_text(rules.stack)} bb, {posted_text(rules)}"
    lines = [f"{ends.get(0, IP.seat)}: {head}"]
    # The rules between a node's children and the left margin, for the children below it.
    margins = [""]
    for node in range(1, tree.node_count):
        above = int(tree.parent[node])
        last = node == tree.children_of(above)[-1]
        end = ends[node] if node in ends else tree.player_at(node).seat
        branch = "└─" if last else "├─"
        label = action_label(tree, node, BIG_BLINDS)
        lines.append(f"{margins[above]}{branch} {label} → {end}")
        margins.append(margins[above] + ("   " if last else "│  "))
    return lines


def _ends(tree: BettingTree, rules: PreflopRules, notes: Mapping[FlopPot, str]) -> dict[int, str]:
    """The text at each node where the tree ends."""
    ends = {
        pot.node: f"flop, {pot.name} pot: {bb_text(pot.pot)} bb, {bb_text(pot.stack)} bb behind, "
        f"SPR {pot.spr:.3g}" + (f", {notes[pot]}" if pot in notes else "")
        for pot in flop_pots(tree)
    }
    results = payoffs(tree, rules)
    for node in range(tree.node_count):
        if tree.kind[node] == NodeKind.SHOWDOWN:
            ends[node] = f"all-in, pot {bb_text(tree.pot_at(node))} bb"
        elif tree.kind[node] == NodeKind.FOLD:
            winner = Player(int(tree.player[node])).opponent
            won = round(float(results[node, winner, Outcome.WIN]), 2)
            ends[node] = f"{winner.seat} wins {bb_text(won)} bb"
    return ends
