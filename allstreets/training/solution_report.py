"""A preflop or whole-game solution in words and figures: what was solved, how, and how well."""

from typing import Any

from allstreets.betting import (
    POT_KINDS,
    Player,
    PlayerSizes,
    Street,
    StreetSizes,
    bb_text,
    posted_text,
    raises_text,
    sizes_text,
)
from allstreets.games import game_mapping, rules_mapping
from allstreets.solutions import (
    OWN_GAME,
    Certificate,
    WholeSolution,
    locks_text,
    node_report,
)
from allstreets.training.wording import duration, figure

CARDS = {
    "classes": "hand classes, turn and river averaged over",
    "buckets": "hands in buckets on every street",
    "exact": "real combos on every turn and river",
    "boards": "real boards, the hands of each river board in groups",
    "sampled": "hand classes, turn and river sampled",
}

BLIND = "hand classes are blind to turn and river"
WORTH = {
    "classes": f"{BLIND}: one of 0.21 mbb/hand in its own game lost 216 with real cards",
    "sampled": BLIND,
}
"""Where exploitability in a solution's own game says little about real cards, and why."""


def summary_lines(result: WholeSolution) -> list[str]:
    """What was solved and how well, for people."""

    facts = result.facts
    lines = [_rules_line(result)]
    if result.is_game:
        seen = [_postflop_line(result), _flops_line(result)]
        lines += seen if result.game.pots else ["no pot sees a flop"]
    spent = f" in {duration(facts.seconds)}" if facts.seconds else ""
    lines += [locks_text(result.locks)] if result.locks else []
    lines.append(f"{facts.iterations:,} iterations of {facts.algorithm}{spent}")
    if facts.simplified is not None:
        lines += facts.simplified.lines()
    return lines + quality_lines(result)


def quality_lines(result: WholeSolution) -> list[str]:
    """Exploitability with what it covers, and the values of the game."""
    facts = result.facts
    if facts.exploitability is None:
        reason = (
            ": memory: per_batch stores no strategies of flops"
            if facts.memory == "per_batch"
            else ""
        )
        lines = [f"exploitability not known{reason}"]
    else:
        played = result.is_game and result.game.pots
        where = f" {facts.judged}" if played else ""
        lines = [
            f"exploitability{where} {figure(facts.exploitability)} mbb/hand: {_covers(result)}"
        ]
    if facts.preflop_exploitability is not None:
        part = figure(facts.preflop_exploitability)
        lines.append(f"  {part} mbb/hand by a best response before the flop alone")
    if facts.values is not None:
        oop, ip = facts.values
        lines.append(f"value of the game: SB {ip:+.1f} mbb/hand, BB {oop:+.1f} mbb/hand")
    if facts.certificate is not None:
        lines += certificate_lines(facts.certificate)
    elif result.is_game and result.game.pots:
        why = WORTH.get(result.cards.kind)
        note = f" ({why})" if why else ""
        where = "with real cards" if facts.judged == OWN_GAME else "on other flops"
        lines.append(f"{where}: not known{note}; allstreets certify finds out")
    return lines


def certificate_lines(certificate: Certificate) -> list[str]:
    """What a certificate says, for people."""
    one = certificate
    low, high = one.interval_mbb
    interval = "" if low == high else f", 95 % between {figure(low)} and {figure(high)}"
    old = " (of an earlier state of this solution: certify it again)" if one.outdated else ""
    lines = [
        f"exploitability with real cards {figure(one.real_exploitability_mbb)} mbb/hand"
        f"{interval}: best response to every card, on {one.flops_text}{old}",
        f"  {figure(one.after_flop_mbb)} mbb/hand after the flop, and "
        f"{figure(one.unseen_gap_mbb)} by a best response before it",
    ]
    if one.completion is not None:
        completed = one.flops - one.trained_flops
        lines.append(
            f"  {completed:,} of these flops, not stored in the solution, were solved for its "
            f"ranges ({one.completion})"
        )
    return lines


def solution_mapping(result: WholeSolution) -> dict[str, Any]:
    """A solution as JSON data: what was solved, how well, and the first decisions."""

    facts = result.facts
    if isinstance(result, WholeSolution):
        kind, flops, game = "unified", len(result.game.flops.flops), game_mapping(result.game)
    else:
        kind, flops, game = "preflop", None, {"preflop": rules_mapping(result.rules)}
    values = facts.values
    return {
        "kind": kind,
        "name": facts.name,
        "description": facts.description,
        "game": game,
        "flops": flops,
        "cards": None if facts.cards is None else str(facts.cards),
        "memory": facts.memory,
        "algorithm": facts.algorithm,
        "seed": facts.seed,
        "iterations": facts.iterations,
        "seconds": facts.seconds,
        "exploitability_mbb": facts.exploitability,
        "preflop_exploitability_mbb": facts.preflop_exploitability,
        "certificate": facts.certificate.to_json() if facts.certificate else None,
        "simplified": None if facts.simplified is None else facts.simplified.mapping(),
        "values_mbb": None if values is None else {"BB": values[0], "SB": values[1]},
        "config": dict(facts.config),
        "metrics": result.metrics,
        "decisions": [node_report(result.at(line).decision) for line in result.opening_lines()],
    }


def _covers(result: WholeSolution) -> str:
    """What the best response may do that exploitability is measured by."""

    if not isinstance(result, WholeSolution):
        return "best response before the flop, against the values that pots are given there"
    if not result.game.pots:
        return "best response in the whole game, with the whole deck"
    flops = result.game.flops
    which = "all 1,755 flops" if flops.is_all else _flop_count(result)
    if result.facts.judged != OWN_GAME:
        return f"best response to every card, on {which}"
    return f"best response preflop through river, on {which} with cards: {result.cards.kind}"


def _flop_count(result: WholeSolution) -> str:
    count = len(result.game.flops.flops)
    return f"{count:,} flop{'' if count == 1 else 's'}"


def _rules_line(result: WholeSolution) -> str:

    rules = result.rules
    parts = [f"{bb_text(rules.stack)} bb stacks", posted_text(rules), raises_text(rules)]
    if rules.raise_cap is not None:
        parts.append(f"raise cap {rules.raise_cap}")
    if rules.rake:
        cap = "" if rules.rake_cap is None else f", at most {bb_text(rules.rake_cap)} bb"
        parts.append(f"rake {100 * rules.rake:g} %{cap}")
    return ", ".join(parts)


def _postflop_line(result: WholeSolution) -> str:

    game = result.game
    sizes = _streets_text(game.sizes)
    for kind in POT_KINDS:
        if kind in game.pot_sizes:
            name = kind.replace("bet", "-bet")
            sizes += f"; in {name} pots {_streets_text(game.pot_sizes[kind])}"
    raises = game.max_raises
    limit = "" if raises is None else f", {raises} raise{'' if raises == 1 else 's'} per street"
    return f"after the flop {sizes}{limit}"


def _streets_text(streets: tuple[StreetSizes, ...]) -> str:

    texts = {}
    for street, sizes in zip((Street.FLOP, Street.TURN, Street.RIVER), streets, strict=True):
        own = [_sizes(sizes[player]) for player in Player]
        texts[street.text] = own[0] if own[0] == own[1] else f"BB {own[0]}; SB {own[1]}"
    parts = list(dict.fromkeys(texts.values()))
    if len(parts) > 1:
        parts = [f"{street}: {text}" for street, text in texts.items()]
    return "; ".join(parts)


def _sizes(sizes: PlayerSizes) -> str:

    return f"bets {sizes_text(sizes.bet) or 'none'}, raises {sizes_text(sizes.raises) or 'none'}"


def _flops_line(result: WholeSolution) -> str:
    flops, facts = result.game.flops, result.facts
    which = "all 1,755 flops" if flops.is_all else _flop_count(result)
    name = "" if flops.is_all or flops.name == "named" else f" ({flops.name})"
    memory = f", memory: {facts.memory}" if facts.memory else ""
    kept = "" if result.has_flops else "; no strategies after the flop are stored"
    return f"{which}{name}, cards: {facts.cards} ({CARDS[result.cards.kind]}){memory}{kept}"
