"""What can be wrong with a request, by the status that it gets."""

from collections.abc import Sequence

from allstreets.base import InputError
from allstreets.explorer.models.base import Problem


class MissingError(InputError):
    """There is no such solution, solve or hand."""


class BusyError(InputError):
    """Not in this state, or too much at once."""


class FormError(InputError):
    """A form with problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)
