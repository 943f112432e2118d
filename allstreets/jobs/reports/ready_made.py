"""A trained game beside the ready-made solution of the same game, in words."""

from allstreets.analysis import Comparison
from allstreets.base import figure
from allstreets.storage import ReadyMadeComparison


def ready_made_lines(beside: ReadyMadeComparison) -> list[str]:
    """Which solution ships, what it is worth, and how the trained one differs."""
    certificate, (here, there) = beside.certificate, beside.stacks
    away = "" if here == there else f", {there:g} bb deep instead of {here:g}"
    if certificate is None:
        lines = [f"A ready-made solution of this game ships: {beside.name}{away}."]
    else:
        low, high = certificate.interval_mbb
        sure = "" if low == high else f", 95 % between {figure(low)} and {figure(high)}"
        worth = f"{figure(certificate.real_exploitability_mbb)} mbb/hand with real cards{sure}"
        lines = [f"A certified solution of this game ships: {beside.name}{away} ({worth})."]
    lines += [_decision_line(decision) for decision in beside.decisions]
    if beside.values is not None:
        own, other = beside.values
        lines.append(
            f"  The game is worth {own:+.1f} mbb/hand to the small blind here, {other:+.1f} there: "
            f"{own - other:+.1f}"
        )
    return lines


def _decision_line(decision: Comparison) -> str:
    where = f"after '{decision.line}'" if decision.line else "first to act"
    actions = ", ".join(
        f"{label} {100 * own:.1f} % ({100 * other:.1f} %)"
        for label, own, other in zip(decision.labels, *decision.frequencies, strict=True)
    )
    return (
        f"  {decision.seat} {where}, here (there): {actions}; a hand does something else "
        f"{100 * decision.distance:.1f} % of the time"
    )
