"""Spots that are ready to solve, so that a newcomer sees a solution within seconds."""

from allstreets.explorer.models import solves as messages


def examples() -> list[messages.Example]:
    """Spots that are ready to solve."""
    # From small to large; the first one is solved in about a second.
    return [RIVER, TURN, FLOP]


def _sizes(bet: str, raises: str, donk: str = "") -> messages.StreetSizesForm:
    """The same sizes for both players; donk sizes are for OOP alone."""
    both = {"bet": bet, "raise": raises}
    return messages.StreetSizesForm.model_validate({"oop": {**both, "donk": donk}, "ip": both})


RIVER = messages.Example(
    name="River: two wide ranges",
    description=(
        "A dry board, a pot of 100 and 500 behind. Watch which hands bet large: the best ones and "
        "the worst ones, not those between."
    ),
    form=messages.SpotForm(
        name="River: two wide ranges",
        board="Ks7d4c9h2s",
        oop_range=(
            "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,95s+,85s+,74s+,64s+,53s+,43s,"
            "A2o+,K7o+,Q8o+,J8o+,T8o+,98o,87o"
        ),
        ip_range=("22+,A2s+,K2s+,Q2s+,J4s+,T6s+,96s+,85s+,75s+,64s+,53s+,A2o+,K5o+,Q8o+,J9o+,T9o"),
        pot=100,
        stack=500,
        sizes=messages.SizesForm(river=_sizes("33%, 75%, 150%, a", "50%, 100%, a")),
        target_pct=0.2,
    ),
)

TURN = messages.Example(
    name="Turn: single-raised pot",
    description=(
        "Two streets to go, two bet sizes each. On the river OOP may lead small into the player "
        "who bet the turn (donk sizes)."
    ),
    form=messages.SpotForm(
        name="Turn: single-raised pot",
        board="AhTd6s3c",
        oop_range=("22+,A2s+,K5s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,64s+,54s,A8o+,KTo+,QTo+,JTo"),
        ip_range=("22+,A2s+,K2s+,Q6s+,J7s+,T7s+,96s+,86s+,75s+,64s+,53s+,A5o+,K9o+,Q9o+,J9o+,T9o"),
        pot=100,
        stack=500,
        sizes=messages.SizesForm(
            turn=_sizes("33%, 75%", "60%"), river=_sizes("33%, 75%", "60%", "33%")
        ),
        target_pct=0.3,
    ),
)

FLOP = messages.Example(
    name="Flop: a wet board",
    description=(
        "Three streets with one bet and one raise size each: some seconds to half a minute, and "
        "about 0.6 GB of memory."
    ),
    form=messages.SpotForm(
        name="Flop: a wet board",
        board="Td9d6h",
        oop_range="66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        ip_range="QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        pot=100,
        stack=500,
        sizes=messages.SizesForm(
            flop=_sizes("60%", "60%"), turn=_sizes("60%", "60%"), river=_sizes("60%", "60%")
        ),
        target_pct=0.5,
    ),
)
