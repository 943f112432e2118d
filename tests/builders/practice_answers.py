"""Stored decisions of practice, for tests that read them."""

from allstreets.study import Answer, Option


def answer(loss: float | None = 0.5, **changes: object) -> Answer:
    """A bet that costs half a big blind; by default it was missed."""
    given = {
        "solution": "game",
        "folder": "/games/game",
        "seed": 1,
        "hand": 1,
        "seat": "BB",
        "player": "oop",
        "street": "flop",
        "pot_kind": "raised",
        "line": "r2.5 c | Qs7h4d",
        "board": "Qs7h4d",
        "cards": "AhKh",
        "pot_bb": 5.0,
        "to_call_bb": 0.0,
        "taken": "b50%",
        "options": (Option("x", 1.0, 2.0), Option("b50%", 0.0, 1.5)),
        "loss_bb": loss,
    }
    return Answer(**{**given, **changes})  # type: ignore[arg-type]
