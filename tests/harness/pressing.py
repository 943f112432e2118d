"""Signals that come at a named place of the code under test, never at a time."""

import signal
from collections.abc import Callable
from typing import Any

import pytest


def press_in(
    patch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    *numbers: int,
    when: Callable[..., bool] = lambda *_: True,
) -> list[int]:
    """Let this process send itself `numbers` right after a call of `owner.name`, once.

    `when` gets the arguments of the call. Returns a list that holds what was sent.
    """
    sent: list[int] = []
    original = getattr(owner, name)

    def pressing(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        if not sent and when(*arguments):
            sent.extend(numbers or (signal.SIGINT,))
            for number in sent:
                signal.raise_signal(number)
        return result

    patch.setattr(owner, name, pressing)
    return sent
