"""Small spots that tests solve in a fraction of a second."""

from typing import Any

from allstreets.games import Spot

RIVER: dict[str, Any] = {
    "board": "Ks7d4c9h2s",
    "oop_range": "22+,ATs+,KTs+,QJs,87s",
    "ip_range": "55+,A9s+,KQ,QTs+,T8s",
    "pot": 100,
    "stack": 300,
    "bets": ["50%", "a"],
    "raises": ["60%", "a"],
}
TURN: dict[str, Any] = {
    "board": "Ks7d4c9h",
    "oop_range": "99+,AQs+,KTs+,QJs:0.5,87s",
    "ip_range": "88+,AJs+,KQ,QTs+,T8s:0.25",
    "pot": 100,
    "stack": 200,
    "bets": ["75%"],
    "raises": ["a"],
}
FLOP: dict[str, Any] = {
    "board": "Ks7d4d",
    "oop_range": "QQ+,AKs",
    "ip_range": "JJ+,AKs,KQs",
    "pot": 100,
    "stack": 300,
    "bets": ["75%"],
    "raises": [],
}


def spot(keys: dict[str, Any], **changes: Any) -> Spot:
    """A spot out of its keys, some of them changed."""
    return Spot.from_mapping({**keys, **changes})
