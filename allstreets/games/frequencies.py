"""Frequencies of actions over a whole range: bounds, and strategies that meet them.

`cheapest_change` finds the strategy within the bounds that loses least: hands that give up least EV
move first. To move the part of hand h that takes b to a costs max(0, EV_bh − EV_ah), so that
nothing moves except to meet the bounds. This is a transport problem with few sinks, the A actions:
1. A part is an action that a hand takes: at first all of it stays where it is, at no cost.
2. Where an action is taken too often or too rarely, parts move along the cheapest path of actions
   from one that can give to one that can take: successive shortest paths, which is exact.
3. A step of such a path moves the part that costs least; among equals, that of the hand which gets
there most often. If only one action has bounds, that is all: sort and move. There hands that are
the same except for suits move in equal shares.

Without EVs hands move in equal parts. Among all strategies q whose actions a have a frequency Σ_h
w_h·q_ah between least_a and most_a (weights w of the hands, sum 1), `smallest_change` finds the one
with the least weighted squared change Σ_h w_h·Σ_a (q_ah − p_ah)² from p:
1. The Lagrangian splits by hand: at prices λ_a of the actions, each hand plays the point of the
   simplex nearest to p_h − λ.
2. An action's frequency falls as its price rises, so one bound is one bisection.
3. Several bounds are met in turns, each with the others' prices held: the dual is smooth and
   concave except for kinks at λ_a = 0, so this ascends to its maximum.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from allstreets.base import Flags, Floats, InputError, Longs, csv_rows, shorten
from allstreets.betting import CHIPS, BettingTree, Notation, action_text
from allstreets.games.locks import named_action

COLUMNS = ("node", "action", "frequency")
SUM_TOLERANCE = 0.02  # how far written frequencies, which are rounded, may be from 1 in sum
FREQUENCY = re.compile(r"(<=|>=|≤|≥|=)?\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(%)?")

UNKNOWN = 1e6  # times the largest loss: an unknown one is chosen last
LEAST_FLOW = 1e-13  # of frequencies: less need not move
ALIKE = 1e-9  # relative: losses and weights that differ by less are equal
MOST_PARTS = 4_000  # of hands that are moved one by one where several actions have bounds
LEVELS = 24  # of losses, where there are more: parts that lose about the same move together

STEPS = 50  # of a bisection
ROUNDS = 2_000
CLOSE = 1e-11  # of frequencies


@dataclass(frozen=True)
class Bound:
    """The frequency of an action over a whole range: exact, an upper bound, or a lower bound."""

    line: str
    action: str
    least: float
    most: float
    where: str = ""  # its source, for messages: "line 3 of observed.csv"

    @classmethod
    def read(cls, line: str, action: str, frequency: str, where: str) -> "Bound":
        """A frequency as people write it: 30%, 0.3, <=30%, >=10%."""
        match = FREQUENCY.fullmatch(frequency.strip())
        if match is None:
            raise InputError(
                f"{where}: '{shorten(frequency)}' is not a frequency: write 30%, 0.3, or <=30%"
            )
        share = float(match[2]) / (100 if match[3] else 1)
        if share > 1:
            hint = "" if match[3] else f": write {shorten(match[2])}% for per cent"
            given = shorten(frequency.strip())
            raise InputError(f"{where}: a frequency of {given} is more than 1{hint}")
        sign = match[1] or "="
        least = 0.0 if sign in ("<=", "≤") else share
        return cls(line, action.strip(), least, 1.0 if sign in (">=", "≥") else share, where)

    @property
    def text(self) -> str:
        """The frequency as people write it.

        >>> Bound.read("x", "b33%", "<=0.3", "").text
        '<=30%'
        """
        sign, share = self._sign
        return f"{sign}{100 * share:.10g}%"

    @property
    def words(self) -> str:
        """The same in a sentence.

        >>> Bound.read("x", "b33%", "<=0.3", "").words
        'at most 30 %'
        """
        sign, share = self._sign
        word = {"": "", ">=": "at least ", "<=": "at most "}[sign]
        return f"{word}{round(100 * share, 2):g} %"

    @property
    def _sign(self) -> tuple[str, float]:
        if self.least == self.most:
            return "", self.least
        return ("<=", self.most) if self.most < 1 else (">=", self.least)


def read_bounds(text: str, source: str) -> list[Bound]:
    """The rows of a CSV text with the columns node, action and frequency; others are ignored."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline=None)  # whatever ends them
    columns: list[int] | None = None
    bounds, problems = list[Bound](), list[str]()
    for number, row in csv_rows(lines, source):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if columns is None:
            names = [cell.lower() for cell in cells]
            missing = [name for name in COLUMNS if name not in names]
            if missing:
                raise InputError(
                    f"{source}, line {number}: no column {' and '.join(missing)}: the first "
                    f"line names the columns {', '.join(COLUMNS)}"
                )
            columns = [names.index(name) for name in COLUMNS]
            continue
        where = f"{source}, line {number}"
        if len(cells) <= max(columns):
            problems.append(f"{where}: {len(cells)} cells: write node, action and frequency")
            continue
        try:
            line, action, frequency = (cells[column] for column in columns)
            bounds.append(Bound.read(line, action, frequency, where))
        except InputError as error:
            problems.append(str(error))
    if problems:
        more = f"\n{len(problems) - 1} more lines cannot be read" if len(problems) > 1 else ""
        raise InputError(problems[0] + more)
    if not bounds:
        raise InputError(f"{source} has no frequencies: write lines such as 'x b50%,call,45%'")
    return bounds


def limits(
    tree: BettingTree, node: int, bounds: Sequence[Bound], notation: Notation = CHIPS
) -> tuple[Floats, Floats]:
    """[A] twice: the least and the most often that each action is taken, checked together."""
    count = len(tree.children_of(node))
    least, most = np.zeros(count), np.ones(count)
    for bound in bounds:
        action = named_action(tree, node, bound.action, bound.where, notation)
        least[action] = max(least[action], bound.least)
        most[action] = min(most[action], bound.most)
        if least[action] > most[action]:
            raise InputError(
                f"{bound.where}: '{shorten(bound.action)}' at '{shorten(bound.line)}' has another "
                "frequency already"
            )
    if (least == most).all() and abs(least.sum() - 1) <= SUM_TOLERANCE:
        return least / least.sum(), most / most.sum()
    if least.sum() > 1 + 1e-9 or most.sum() < 1 - 1e-9:
        where, line = bounds[-1].where, shorten(bounds[0].line)
        total = least.sum() if least.sum() > 1 else most.sum()
        words = ", ".join(action_text(action, notation) for action in tree.actions_at(node))
        raise InputError(
            f"{where}: the frequencies at '{line}' add up to {total:.4g}, not to 1 ({words})"
        )
    return least, most


def changed_strategy(
    strategy: Floats, evs: Floats, weights: Floats, least: Floats, most: Floats
) -> Floats:
    """[A, H]: the cheapest change within bounds; hands without EVs [A, H] move in equal parts.

    EVs are NaN where they are not known. A hand has EVs if they are known for the actions that
    should be taken more often, or for one of those that hands can turn to. Where some hands have
    them and others do not, both parts of the range meet the bounds by themselves.
    """
    met, finite = strategy @ (weights / weights.sum()), np.isfinite(evs)
    short = met < least - LEAST_FLOW
    turned_to = (met < most) & ~short
    known = np.ones(strategy.shape[1], np.bool_)
    if short.any():
        known = finite[short].all(axis=0)
    elif turned_to.any():
        known = finite[turned_to].any(axis=0)
    blind = ~known & (weights > 0)
    if not blind.any():
        return cheapest_change(strategy, evs, weights, least, most)
    if not (known & (weights > 0)).any():
        return smallest_change(strategy, weights, least, most)
    changed = np.empty_like(strategy)
    changed[:, blind] = smallest_change(strategy[:, blind], weights[blind], least, most)
    changed[:, ~blind] = cheapest_change(
        strategy[:, ~blind], evs[:, ~blind], weights[~blind], least, most
    )
    return changed


def cheapest_change(
    strategy: Floats, evs: Floats, weights: Floats, least: Floats, most: Floats
) -> Floats:
    """[A, H]: the strategy within `least` and `most` [A] that loses least against `strategy`.

    `evs` [A, H] are those of the actions, NaN where they are not known, and `weights` [H] those of
    the hands. Bounds that some strategy meets are assumed.
    """
    actions = len(strategy)
    if actions == 2:  # the bounds of one action are those of the other
        least, most = np.maximum(least, 1 - most[::-1]), np.minimum(most, 1 - least[::-1])
        least[1], most[1] = 0.0, 1.0
    home, hands = np.nonzero(strategy > 0)  # [M]: parts
    losses = np.maximum(evs[home, hands] - evs[:, hands], 0.0)  # [A, M]
    losses[home, np.arange(len(home))] = 0.0
    largest = np.nanmax(losses, initial=1e-9, where=np.isfinite(losses))
    losses[~np.isfinite(losses)] = UNKNOWN * largest
    sizes = strategy[home, hands] * (weights / weights.sum())[hands]
    bound = np.flatnonzero((least > 0) | (most < 1))
    if len(bound) <= 1:
        parts = _one_bound(losses, sizes, weights[hands], home, least, most)
    else:
        alike = _alike(losses, home) if len(home) > MOST_PARTS else np.arange(len(home))
        first = np.unique(alike, return_index=True)[1]
        counts, whole = _sums(alike, np.ones(len(home))), _sums(alike, sizes)
        # Hands that never get there count alike.
        shares = np.where(whole[alike] > 0, sizes / np.maximum(whole, 1e-300)[alike], 0.0)
        shares[whole[alike] <= 0] = 1 / counts[alike][whole[alike] <= 0]
        means = np.array([_sums(alike, row * shares) for row in losses])
        flow = _Flow(means, whole, _sums(alike, weights[hands]), home[first], actions)
        while flow.move_cheapest(least, most):
            pass
        parts = flow.parts[:, alike]
    changed = np.zeros_like(strategy)
    for action in range(actions):
        changed[action] = np.bincount(
            hands, strategy[home, hands] * parts[action], minlength=len(weights)
        )
    return changed


def _one_bound(
    losses: Floats, sizes: Floats, weights: Floats, home: Longs, least: Floats, most: Floats
) -> Floats:
    """[A, M]: the share of each part at every action, where one has bounds: sort and move."""
    rows = np.arange(len(home))
    parts = np.zeros_like(losses)
    parts[home, rows] = 1.0
    met = parts @ sizes
    away = met > most + LEAST_FLOW
    if away.any():
        action = int(away.argmax())
        others = losses.copy()
        others[action] = np.inf
        goal, ends, amount = others.min(axis=0), others.argmin(axis=0), met[action] - most[action]
        order = np.flatnonzero(home == action)
    else:
        action = int((least - met).argmax())
        goal, ends, amount = losses[action], np.full(len(home), action), least[action] - met[action]
        order = np.flatnonzero(home != action)
    if amount <= LEAST_FLOW:
        return parts
    order = order[np.lexsort((-weights[order], goal[order]))]
    # Parts alike in loss and weight, such as hands that are the same except for suits, move as one.
    last = np.flatnonzero(_differs(goal[order]) | _differs(weights[order]))
    group = np.searchsorted(last, np.arange(len(order)))
    whole = _sums(group, sizes[order])
    before = np.cumsum(whole) - whole
    part = np.where(whole > 0, (amount - before) / np.maximum(whole, 1e-300), 1.0)
    shares = np.where(before < amount, np.clip(part, 0.0, 1.0), 0.0)[group]
    parts[home[order], order] -= shares
    parts[ends[order], order] += shares
    return parts


def _differs(values: Floats) -> Flags:
    """Flags of the values that differ from the next one by more than rounding."""
    differs: Flags = np.abs(np.diff(values)) > ALIKE * np.abs(values[1:])
    return differs


def _sums(alike: Longs, values: Floats) -> Floats:
    """Values added up by number."""
    sums: Floats = np.bincount(alike, values).astype(np.float64)
    return sums


def _alike(losses: Floats, home: Longs) -> Longs:
    """[M]: a number for each part; those at the same action that lose about the same share it."""
    levels = np.linspace(0, 1, LEVELS + 1)[1:-1]
    ranks = [np.searchsorted(np.quantile(row, levels), row) for row in losses]
    alike: Longs = np.unique(np.vstack([home, *ranks]), axis=1, return_inverse=True)[1].reshape(-1)
    return alike


class _Flow:
    """Parts of hands that move between actions.

    losses: [A, M], sizes: [M] as frequencies; parts: [A, M], the share of each at every action.
    """

    def __init__(
        self, losses: Floats, sizes: Floats, weights: Floats, home: Longs, actions: int
    ) -> None:
        self.losses, self.sizes, self.weights = losses, sizes, weights
        self.parts = np.zeros((actions, len(home)))
        self.parts[home, np.arange(len(home))] = 1.0

    def move_cheapest(self, least: Floats, most: Floats) -> bool:
        """Move parts along the cheapest path between actions; False: all bounds are met.

        A last node stands for what actions may take or leave: an action with room for more takes
        from others through it, and an action with some to spare gives.
        """
        met = self.parts @ self.sizes
        short, over = np.maximum(least - met, 0.0), np.maximum(met - most, 0.0)
        spare = short.sum() - over.sum()
        gives, takes = np.append(over, max(spare, 0.0)), np.append(short, max(-spare, 0.0))
        room = np.maximum(most - np.maximum(met, least), 0.0)  # [A], into the last node
        free = np.maximum(np.minimum(met, most) - least, 0.0)  # [A], out of it
        costs = self._costs()
        costs[:-1, -1] = np.where(room > LEAST_FLOW, 0.0, np.inf)
        costs[-1, :-1] = np.where(free > LEAST_FLOW, 0.0, np.inf)
        ends = gives > LEAST_FLOW, takes > LEAST_FLOW
        _, path = _cheapest_path(costs, *ends)
        if not path:
            return False
        last = len(met)
        amount = min(
            float(gives[path[0][0]]),
            float(takes[path[-1][1]]),
            *(float(room[a]) for a, b in path if b == last),
            *(float(free[b]) for a, b in path if a == last),
        )
        steps = [step for step in path if last not in step]
        if len(steps) == 1:
            # All parts for which this step is cheaper than any other path move at once.
            costs[steps[0]] = np.inf
            limit, _ = _cheapest_path(costs, *ends)
            self._move(*steps[0], self._order(*steps[0], limit), amount)
            return True
        moves = [(a, b, self._part(a, b)) for a, b in steps]
        amount = min([amount, *(self.parts[a, i] * self.sizes[i] for a, _, i in moves)])
        for a, b, index in moves:
            self._move(a, b, np.array([index]), amount)
        return True

    def _costs(self) -> Floats:
        """[A + 1, A + 1]: the least cost of a step between actions; inf: nothing can move."""
        count = len(self.parts)
        costs = np.full((count + 1, count + 1), np.inf)
        for a in range(count):
            there = (self.parts[a] > 0) & (self.sizes > 0)
            if there.any():
                costs[a, :count] = (self.losses[:, there] - self.losses[a, there]).min(axis=1)
            costs[a, a] = np.inf
        return costs

    def _part(self, a: int, b: int) -> int:
        """The part for which a step costs least."""
        order = self._order(a, b, np.inf)
        return int(order[self.sizes[order] > 0][0])

    def _order(self, a: int, b: int, limit: float) -> Longs:
        """The parts at `a` whose step to `b` costs `limit` at most, cheapest first."""
        there = np.flatnonzero(self.parts[a] > 0)
        costs = self.losses[b, there] - self.losses[a, there]
        order = np.lexsort((-self.weights[there], costs))
        chosen: Longs = there[order][costs[order] <= limit]
        return chosen

    def _move(self, a: int, b: int, order: Longs, amount: float) -> None:
        """Move parts in their order from `a` to `b` until the given amount has moved."""
        sizes = self.parts[a, order] * self.sizes[order]
        before = np.cumsum(sizes) - sizes
        order, sizes, before = (each[before < amount] for each in (order, sizes, before))
        shares = np.minimum(1.0, (amount - before) / np.where(sizes > 0, sizes, 1.0))
        shares[sizes <= 0] = 1.0
        # All of a part, or all but a rounding error.
        shares[sizes - shares * sizes <= LEAST_FLOW * 1e-2] = 1.0
        moved = self.parts[a, order] * shares
        self.parts[a, order] = np.where(shares == 1.0, 0.0, self.parts[a, order] - moved)
        self.parts[b, order] += moved


def _cheapest_path(
    costs: Floats, sources: Flags, sinks: Flags
) -> tuple[float, list[tuple[int, int]]]:
    """The cheapest path from any source to any sink, as steps, and its cost; inf for none."""
    count = len(costs)
    distance = np.where(sources, 0.0, np.inf)
    before = np.full(count, -1)
    for _ in range(count - 1):  # Bellman and Ford: steps back may have negative costs
        for a, b in permutations(range(count), 2):
            if distance[a] + costs[a, b] < distance[b] - 1e-15:
                distance[b], before[b] = distance[a] + costs[a, b], a
    ends = np.where(sinks & ~sources, distance, np.inf)
    end = int(ends.argmin())
    if not np.isfinite(ends[end]):
        return np.inf, []
    path: list[tuple[int, int]] = []
    node = end
    while before[node] >= 0 and len(path) < count:
        path.insert(0, (int(before[node]), node))
        node = int(before[node])
    return float(ends[end]), path


def smallest_change(strategy: Floats, weights: Floats, least: Floats, most: Floats) -> Floats:
    """[A, H]: the strategy nearest to `strategy` [A, H] within `least` and `most` [A].

    `weights` [H] are those of the hands. Bounds that some strategy meets are assumed.
    """
    # The least shares of the others cannot be taken; an action that is never taken has no finite
    # price.
    possible = np.minimum(most, 1 - (least.sum() - least)) > CLOSE
    changed = np.zeros_like(strategy)
    changed[possible] = _priced(
        strategy[possible], weights / weights.sum(), least[possible], most[possible]
    )
    return changed


def _priced(strategy: Floats, shares: Floats, least: Floats, most: Floats) -> Floats:
    """The same where every action can be taken; `shares` [H] sum to 1."""
    bound = np.flatnonzero((least > 0) | (most < 1))
    prices = np.zeros(len(strategy))
    for _ in range(ROUNDS):
        before = prices.copy()
        for action in bound.tolist():
            prices[action] = _price(strategy, shares, prices, action, least, most)
        met = _nearest(strategy - prices[:, None]) @ shares
        gap = np.maximum(least - met, met - most)[bound].max(initial=0.0)
        if len(bound) <= 1 or (gap < CLOSE and np.abs(prices - before).max() < CLOSE):
            break
    return _nearest(strategy - prices[:, None])


def _price(
    strategy: Floats, shares: Floats, prices: Floats, action: int, least: Floats, most: Floats
) -> float:
    """The price nearest to 0 at which the frequency of an action meets its bounds."""
    points = strategy - prices[:, None]

    def frequency(price: float) -> float:
        points[action] = strategy[action] - price
        return float(_nearest(points)[action] @ shares)

    free = frequency(0.0)
    if least[action] <= free <= most[action]:
        return 0.0
    # Beyond it every hand takes the action, or none does, whatever the others cost.
    edge = 2.0 + float(np.abs(prices).max())
    low, high = (0.0, edge) if free > most[action] else (-edge, 0.0)
    goal = most[action] if free > most[action] else least[action]
    for _ in range(STEPS):
        middle = (low + high) / 2
        if frequency(middle) > goal:
            low = middle
        else:
            high = middle
    return high if free > goal else low


def _nearest(points: Floats) -> Floats:
    """[A, H]: for each column the nearest point of the simplex: the part above a level is kept."""
    ordered = -np.sort(-points, axis=0)
    counts = np.arange(1, len(points) + 1)[:, None]
    levels = (np.cumsum(ordered, axis=0) - 1) / counts
    kept = (ordered > levels).sum(axis=0)
    level = np.take_along_axis(levels, kept[None] - 1, axis=0)
    nearest: Floats = np.maximum(points - level, 0.0)
    return nearest
