"""The rules before the flop in words, for reports and headings."""

from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.sizes import sizes_text
from allstreets.betting.table import IP, OOP, Player, bb_text


def posted_text(rules: PreflopRules) -> str:
    """Describe the blinds and antes: "blinds 0.5/1 bb, ante 0.1 bb"."""
    blinds = f"blinds {bb_text(rules.small_blind)}/{bb_text(rules.big_blind)} bb"
    return ", ".join(text for text in (blinds, ante_text(rules)) if text)


def ante_text(rules: PreflopRules) -> str:
    """The antes, "" where there are none: "ante 0.1 bb", "big-blind ante 1 bb"."""
    parts = []
    if rules.ante:
        parts.append(f"ante {bb_text(rules.ante)} bb")
    if rules.bb_ante:
        parts.append(f"big-blind ante {bb_text(rules.bb_ante)} bb")
    return ", ".join(parts)


def raises_text(rules: PreflopRules) -> str:
    """Describe the raises: "raises 2.5x and all-in", "no limp, raises none and all-in"."""
    own = [_seat_raises_text(rules, player) for player in (IP, OOP)]
    sizes = own[0] if own[0] == own[1] else f"SB {own[0]}, BB {own[1]}"
    limp = "" if rules.limp else "no limp, "
    return f"{limp}raises {sizes}{_allin_text(rules)}"


def _seat_raises_text(rules: PreflopRules, player: Player) -> str:
    """The raise sizes of a player: "2.5x then 3x"; the last of them serve all later raises."""
    return " then ".join(sizes_text(one) or "none" for one in rules.raise_sizes[player]) or "none"


def _allin_text(rules: PreflopRules) -> str:
    """When all-in is offered besides the sizes, as it goes on from them."""
    if rules.allin_spr is None:
        return " and all-in"
    return f" and all-in at an SPR of {rules.allin_spr:g} or less" if rules.allin_spr else ""
