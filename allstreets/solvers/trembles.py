"""Trembles: off-path lines get a range, so that answers to them are learned.

A player learns his answers from the opponent's hands that get to him. Where the opponent never
goes, nothing is learned, and a best response walks in: at 20 bb a small blind that never limps and
re-raises left 69 mbb/hand behind that line. So while a solution is trained, every action before the
flop is taken by at least a small share of the range that gets there. The hands are those that lose
least by it: a loss of l chips makes a hand exp(−l / T) times as likely (a logit response, as in a
quantal response equilibrium; McKelvey & Palfrey 1998), and a small part is spread over all hands.

Only the reach that the opponent learns against changes. What trembles are worth to him stays below
the action by which a player trembles, so that lines that are played are learned as ever. Averages
and every figure of a solution are those of its strategies without trembles.
"""

from allstreets.solvers.kernels.preflop_pass import Trembles

TREMBLE = 0.001  # of a range, at the least, takes every action
BELOW = 0.1  # and of what gets to a decision: an off-path line branches, too
TEMPERATURE = 5.0  # chips: a twentieth of a big blind
SPREAD = 0.02


def trembles(share: float, losses: float = 1.0) -> Trembles:
    """The usual trembles; `losses` are the iterations that stored losses add up."""
    return Trembles(share, BELOW, TEMPERATURE, SPREAD, max(losses, 1.0))
