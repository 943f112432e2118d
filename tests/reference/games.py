"""Slow, obvious twins of the `cfr` layer, straight from the `Game` protocol.

Dictionaries and recursion over histories, one history at a time, and the formulas as the design
writes them. Every kernel of that layer is compared with these.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from allstreets.cfr import FIRST, SECOND, Game, State

Table = dict[str, dict[str, float]]


def all_states(state: State) -> Iterator[State]:
    """The state and everything below it."""
    yield state
    if not state.is_terminal:
        count = len(state.chance_outcomes() if state.is_chance else state.actions())
        for index in range(count):
            yield from all_states(state.child(index))


def information_sets(game: Game) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Information set → (player, actions)."""
    return {
        state.information_set(): (state.player, tuple(state.actions()))
        for state in all_states(game.root())
        if not state.is_terminal and not state.is_chance
    }


def random_table(game: Game, seed: int, pure: float = 0.3) -> Table:
    """A random strategy; some sets play one action only, so that parts are never reached."""
    source = random.Random(seed)
    table = {}
    for key, (_, actions) in information_sets(game).items():
        weights = [source.random() + 1e-3 for _ in actions]
        if source.random() < pure:
            chosen = source.randrange(len(actions))
            weights = [float(index == chosen) for index in range(len(actions))]
        table[key] = {
            action: weight / sum(weights) for action, weight in zip(actions, weights, strict=True)
        }
    return table


def naive_value(state: State, table: Mapping[str, Mapping[str, float]]) -> float:
    """The first player's mean win from `state` on."""
    if state.is_terminal:
        return state.utility()
    if state.is_chance:
        outcomes = state.chance_outcomes()
        return sum(p * naive_value(state.child(i), table) for i, (_, p) in enumerate(outcomes))
    row = table[state.information_set()]
    return sum(row[a] * naive_value(state.child(i), table) for i, a in enumerate(state.actions()))


def naive_best_response(game: Game, table: Table, player: int) -> float:
    """The best that `player` can get: the deepest own set first, all its histories together."""
    histories: dict[str, list[tuple[State, float]]] = defaultdict(list)
    depth: dict[str, int] = {}

    def collect(state: State, reach: float, own_moves: int) -> None:
        """`reach`: the opponent's and nature's probability of getting here."""
        if state.is_terminal:
            return
        if state.is_chance:
            for index, (_, chance) in enumerate(state.chance_outcomes()):
                collect(state.child(index), reach * chance, own_moves)
        elif state.player == player:
            key = state.information_set()
            histories[key].append((state, reach))
            depth[key] = own_moves
            for index in range(len(state.actions())):
                collect(state.child(index), reach, own_moves + 1)
        else:
            row = table[state.information_set()]
            for index, action in enumerate(state.actions()):
                collect(state.child(index), reach * row[action], own_moves)

    collect(game.root(), 1.0, 0)
    answer = {key: dict(row) for key, row in table.items()}
    sign = 1 if player == FIRST else -1
    for key in sorted(histories, key=lambda name: -depth[name]):
        actions = tuple(histories[key][0][0].actions())
        values = [
            sum(
                reach * sign * naive_value(state.child(i), answer)
                for state, reach in histories[key]
            )
            for i in range(len(actions))
        ]
        best = max(range(len(actions)), key=lambda i: values[i])
        answer[key] = {action: float(i == best) for i, action in enumerate(actions)}
    return sign * naive_value(game.root(), answer)


def naive_exploitability(game: Game, table: Table) -> float:
    """The mean of both players' gains by best responses."""
    gains = [naive_best_response(game, table, player) for player in (FIRST, SECOND)]
    return sum(gains) / 2


def naive_multipliers(name: str, t: int) -> tuple[float, float, float, float, bool]:
    """(R⁺ factor, R⁻ factor, S factor, weight of the new strategy, clip) at iteration t."""
    before = t - 1
    if name == "vanilla":
        return 1, 1, 1, 1, False
    if name == "linear":
        return before / t, before / t, before / t, 1, False
    if name == "cfr+":
        return 1, 1, 1, t * t, True
    if name == "cfr+(1)":
        return 1, 1, 1, t, True
    slow = before**1.5 / (before**1.5 + 1)
    if name == "dcfr":
        return slow, before**0.5 / (before**0.5 + 1), (before / t) ** 2, 1, False
    if name == "dcfr(1.5,0,2)":
        return slow, 0.5, (before / t) ** 2, 1, False
    if name == "dcfr+":
        return before**1.5 / (before**1.5 + 1.5), 1, (before / t) ** 4, 1, True
    if name == "tuned":
        return slow, 0.5, (before / t) ** 4, 1, False
    if name == "ahead":
        slow = before**1.4 / (before**1.4 + 1)
        return slow, before**0.75 / (before**0.75 + 10), (before / t) ** 4, 1, False
    raise ValueError(name)


def naive_matching(regrets: Mapping[str, float]) -> dict[str, float]:
    """Regret matching."""
    total = sum(max(regret, 0.0) for regret in regrets.values())
    if total <= 0:
        return {action: 1 / len(regrets) for action in regrets}
    return {action: max(regret, 0.0) / total for action, regret in regrets.items()}


@dataclass
class NaiveCfr:
    """CFR with alternating updates: recursion over histories, dictionaries of regrets and sums."""

    game: Game
    name: str
    iterations: int = 0
    regrets: Table = field(default_factory=dict)
    sums: Table = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, (_, actions) in information_sets(self.game).items():
            self.regrets[key] = dict.fromkeys(actions, 0.0)
            self.sums[key] = dict.fromkeys(actions, 0.0)

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iterations += 1
            for player in (FIRST, SECOND):
                self._update(player)

    def average(self) -> Table:
        return {key: naive_matching(row) for key, row in self.sums.items()}

    def _update(self, player: int) -> None:
        positive, negative, average, weight, clip = naive_multipliers(self.name, self.iterations)
        strategy = {key: naive_matching(row) for key, row in self.regrets.items()}
        gained: Table = {}
        own_reach: dict[str, float] = {}

        def value(state: State, mine: float, others: float) -> float:
            """Value to `player`; `mine` his own reach, `others` the opponent's and nature's."""
            if state.is_terminal:
                return state.utility() if player == FIRST else -state.utility()
            if state.is_chance:
                outcomes = state.chance_outcomes()
                return sum(
                    p * value(state.child(i), mine, others * p) for i, (_, p) in enumerate(outcomes)
                )
            key = state.information_set()
            row = strategy[key]
            if state.player != player:
                return sum(
                    row[a] * value(state.child(i), mine, others * row[a])
                    for i, a in enumerate(state.actions())
                )
            values = {
                a: value(state.child(i), mine * row[a], others)
                for i, a in enumerate(state.actions())
            }
            mean = sum(row[a] * values[a] for a in values)
            own_reach[key] = mine
            for action, number in values.items():
                gained.setdefault(key, defaultdict(float))[action] += others * (number - mean)
            return mean

        value(self.game.root(), 1.0, 1.0)
        for key, gains in gained.items():
            for action in self.regrets[key]:
                old = self.regrets[key][action]
                new = old * (positive if old > 0 else negative) + gains[action]
                self.regrets[key][action] = max(new, 0.0) if clip else new
                self.sums[key][action] *= average
                self.sums[key][action] += weight * own_reach[key] * strategy[key][action]


def split_mix(seed: int) -> Iterator[float]:
    """SplitMix64 as its authors write it, as numbers from [0, 1)."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        yield (z >> 11) * 2.0**-53


@dataclass
class NaiveExternalSampling:
    """External sampling by recursion, for games with uniform chance.

    Chance moves in a row, such as the deal of one card after another, are drawn as one.
    """

    game: Game
    random: Iterator[float]
    regrets: Table = field(default_factory=dict)
    sums: Table = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, (_, actions) in information_sets(self.game).items():
            self.regrets[key] = dict.fromkeys(actions, 0.0)
            self.sums[key] = dict.fromkeys(actions, 0.0)

    def run(self, iterations: int) -> None:
        """Run iterations, each with a walk for each player."""
        for _ in range(iterations):
            for player in (FIRST, SECOND):
                self._walk(self.game.root(), player)

    def _walk(self, state: State, player: int) -> float:
        if state.is_terminal:
            return state.utility() if player == FIRST else -state.utility()
        if state.is_chance:
            outcomes = self._after_chance(state)
            return self._walk(outcomes[int(next(self.random) * len(outcomes))], player)
        key, actions = state.information_set(), state.actions()
        row = naive_matching(self.regrets[key])
        if state.player != player:
            number = next(self.random)
            for action in actions:
                self.sums[key][action] += row[action]
            index, total = 0, 0.0
            for action in actions[:-1]:
                total += row[action]
                index += number >= total
            return self._walk(state.child(index), player)
        values = [self._walk(state.child(i), player) for i in range(len(actions))]
        mean = sum(row[action] * value for action, value in zip(actions, values, strict=True))
        for action, value in zip(actions, values, strict=True):
            self.regrets[key][action] += value - mean
        return mean

    def _after_chance(self, state: State) -> list[State]:
        if not state.is_chance:
            return [state]
        children = [state.child(index) for index in range(len(state.chance_outcomes()))]
        return [below for child in children for below in self._after_chance(child)]


@dataclass(frozen=True)
class RandomState:
    """A history of a `RandomGame`: both players' hidden numbers, then public moves."""

    seed: int
    moves: tuple[int, ...] = ()

    @property
    def is_terminal(self) -> bool:
        return len(self.moves) >= 2 and self._kind == "end"

    @property
    def is_chance(self) -> bool:
        return len(self.moves) < 2 or self._kind == "chance"

    @property
    def player(self) -> int:
        return self._source(self.moves[2:], "player").randrange(2)

    def chance_outcomes(self) -> list[tuple[str, float]]:
        source = self._source(self.moves, "chance")
        weights = [source.random() + 0.1 for _ in range(source.randint(1, 3))]
        return [(str(index), weight / sum(weights)) for index, weight in enumerate(weights)]

    def actions(self) -> list[str]:
        count = self._source(self.moves[2:], "actions").randint(1, 4)
        return [f"a{index}" for index in range(count)]

    def child(self, index: int) -> "RandomState":
        return RandomState(self.seed, (*self.moves, index))

    def information_set(self) -> str:
        public = "".join(str(move) for move in self.moves[2:])
        return f"player {self.player} holds {self.moves[self.player]} after {public}"

    def utility(self) -> float:
        return self._source(self.moves, "utility").uniform(-5, 5)

    @property
    def _kind(self) -> str:
        public = self.moves[2:]
        if len(public) >= 5:
            return "end"
        kinds = ["move", "move", "move", "chance", "end"]
        return self._source(public, "kind").choice(kinds)

    def _source(self, part: tuple[int, ...], purpose: str) -> random.Random:
        return random.Random(f"{self.seed} {purpose} {part}")


@dataclass(frozen=True)
class RandomGame:
    """A game with random shape, hidden information, uneven chance and random utilities.

    Moves and later chance moves are public, so players have perfect recall.
    """

    seed: int
    unit: str = "chips"

    @property
    def name(self) -> str:
        return f"random-{self.seed}"

    def root(self) -> RandomState:
        return RandomState(self.seed)
