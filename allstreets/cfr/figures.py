"""What every solver of a compiled game reports, from its regrets and its average."""

from abc import ABC, abstractmethod

from allstreets.base import Floats
from allstreets.cfr import metrics, strategies
from allstreets.cfr.best_response import exploitability_of, game_value_of
from allstreets.cfr.metrics import Metrics
from allstreets.cfr.sequence_form import SequenceForm


class Figures(ABC):
    """Strategy, game value and convergence figures of a solver that keeps regrets by slot [K]."""

    form: SequenceForm

    @property
    @abstractmethod
    def regrets(self) -> Floats:
        """[K] a copy of the regrets, by slot."""

    @property
    @abstractmethod
    def regret_weight(self) -> float:
        """The sum of the weights that the iterations still carry in the positive regrets."""

    @property
    @abstractmethod
    def average_probabilities(self) -> Floats:
        """[K] the average strategy, by slot."""

    @property
    def regret_bound(self) -> float | None:
        """A true bound on exploitability; `None` where regrets prove none."""
        return None

    @property
    def unit(self) -> str:
        """The unit of exploitability and regrets."""
        return self.form.game.unit

    @property
    def avg_positive_regret(self) -> float:
        """Σ max(R, 0) / (slots · weight of the iterations): a trend, not a bound."""
        return metrics.avg_positive_regret(self.regrets, self.regret_weight)

    def strategies(self) -> dict[str, dict[str, float]]:
        """The average strategy: information set → action → probability."""
        return strategies.as_table(self.form.game, self.average_probabilities)

    def game_value(self) -> float:
        """What the first player wins when both play the average strategy."""
        return game_value_of(self.form, self.average_probabilities)

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """All figures; `exploitability=False` leaves out the best responses."""
        average = self.average_probabilities
        return Metrics(
            exploitability=exploitability_of(self.form, average) if exploitability else None,
            avg_positive_regret=self.avg_positive_regret,
            regret_bound=self.regret_bound,
            max_regret=metrics.max_regret(self.regrets, self.regret_weight),
            strategy_entropy=strategies.entropy(self.form.game, average),
        )
