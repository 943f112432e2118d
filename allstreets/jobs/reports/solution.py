"""A preflop or whole-game solution in words and figures: the game, the method, the accuracy."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from allstreets.base import duration, figure
from allstreets.betting import (
    POT_KINDS,
    Player,
    PlayerSizes,
    Street,
    StreetSizes,
    bb_text,
    line_in_words,
    posted_text,
    raises_text,
    sizes_text,
)
from allstreets.games import game_mapping, rules_mapping
from allstreets.solutions import (
    NOT_REACHED,
    OWN_GAME,
    Certificate,
    Row,
    WholeSolution,
    locks_text,
    node_report,
    percent_text,
    row_weight,
    summary_of,
)

CARDS = {
    "classes": "hand classes, turn and river averaged over",
    "buckets": "hands in buckets on every street",
    "exact": "real combos on every turn and river",
    "boards": "real boards, the hands of each river board in buckets",
    "sampled": "hand classes, turn and river sampled",
}

LEAKS_SHOWN = 3  # deviations before the flop, and pots after it
LEAST_SHOWN_LEAK = 0.5  # mbb/hand

BLIND = "hand classes are blind to turn and river"
WORTH = {
    "classes": f"{BLIND}: one of 0.21 mbb/hand in its own game lost 216 with real cards",
    "sampled": BLIND,
}
"""Kinds of cards whose exploitability in their own game says little about real cards, and why."""


TEXTURES = ("rainbow", "two-tone", "monotone", "unpaired", "paired", "trips", *"AKQJT98765432")
TABLE_KEYS = ("flop", "suits", "pairing", "high_card", "weight", "share", "reached")


def summary_lines(result: WholeSolution, spr: float | None = None) -> list[str]:
    """Summarise a solution and its accuracy in words; of separate flops, at one SPR or at all."""
    facts = result.facts
    if result.unit.name == "pot":
        return model_lines(result, result.rows_at(spr))
    lines = [_rules_line(result)]
    if result.is_game:
        seen = [_postflop_line(result), _flops_line(result)]
        lines += seen if result.game.pots else ["no pot sees a flop"]
    spent = f" in {duration(facts.seconds)}" if facts.seconds else ""
    lines += [locks_text(result.locks)] if result.locks else []
    made = f"{facts.iterations:,} iterations of" if facts.iterations else "solved by"
    lines.append(f"{made} {facts.algorithm}{spent}")
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
        lines.append(f"{where}: not known{note}; allstreets certify measures it")
    return lines


def certificate_lines(certificate: Certificate) -> list[str]:
    """Describe a certificate in words."""
    low, high = certificate.interval_mbb
    interval = "" if low == high else f", 95 % between {figure(low)} and {figure(high)}"
    old = (
        " (of an earlier state of this solution: certify it again)" if certificate.outdated else ""
    )
    worth = f"exploitability with real cards {figure(certificate.real_exploitability_mbb)} mbb/hand"
    if not certificate.flops:
        return [f"{worth}: best response with the whole deck, and no flop is seen{old}"]
    lines = [
        f"{worth}{interval}: a best response that sees every card, on "
        f"{certificate.flops_text}{old}",
        f"  {figure(certificate.after_flop_mbb)} mbb/hand after the flop, and "
        f"{figure(certificate.unseen_gap_mbb)} by a best response before it",
    ]
    lines += leak_lines(certificate)
    if certificate.completion is not None:
        completed = certificate.flops - certificate.trained_flops
        lines.append(
            f"  {completed:,} of these flops, not stored in the solution, were solved for its "
            f"ranges ({certificate.completion})"
        )
    return lines


def leak_lines(certificate: Certificate) -> list[str]:
    """The weak points of a solution: its costliest deviations, pots, and off-path pots."""
    leaks = [leak for leak in certificate.leaks if leak.gain_mbb >= LEAST_SHOWN_LEAK][:LEAKS_SHOWN]
    lines = [
        f"  {leak.seat} gains {figure(leak.gain_mbb)} mbb/hand by '{leak.line}' "
        f"({line_in_words(leak.line)})"
        for leak in leaks
    ]
    costly = [pot for pot in certificate.pots if pot.gain_mbb >= LEAST_SHOWN_LEAK][:LEAKS_SHOWN]
    if costly:
        parts = ", ".join(f"'{pot.line}' {figure(pot.gain_mbb)}" for pot in costly)
        lines.append(f"  after the flop, in mbb/hand: {parts}")
    rare = [f"'{pot.line}'" for pot in certificate.pots if pot.off_path]
    if rare:
        lines.append(f"  off-path, so answers there were hardly learned: {', '.join(sorted(rare))}")
    return lines


def solution_mapping(result: WholeSolution, spr: float | None = None) -> dict[str, Any]:
    """A solution as JSON data: the game, the accuracy, and the first decisions or the flops."""
    facts = result.facts
    if result.unit.name == "pot":
        models, rows = result.models, result.rows_at(spr)
        return {
            "name": facts.name,
            "description": facts.description,
            "config": dict(models.config),
            **summary_of(rows),
            "missing": len(models.missing),
            "seconds": facts.seconds,
            "rows": rows,
        }
    if result.is_game:
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
    """Describe the best response that measures exploitability."""
    if not result.is_game:
        return "best response before the flop, against the values that pots are given there"
    if not result.game.pots:
        return "best response in the whole game, with the whole deck"
    flops = result.game.flops
    which = "all 1,755 flops" if flops.is_all else _flop_count(result)
    if result.facts.judged != OWN_GAME:
        return f"a best response that sees every card, on {which}"
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


def model_lines(result: WholeSolution, rows: Sequence[Row]) -> list[str]:
    """Flops solved one by one: settings, accuracy at each ratio, and play by texture."""
    models, config = result.models, result.models.config
    kind: str = models.cards.kind
    if kind == "buckets":
        kind += f" ({'/'.join(map(str, models.cards.buckets))})"
    raises = config["max_raises_per_street"]
    limit = "" if raises is None else f", {raises} raise{'' if raises == 1 else 's'} per street"
    missing = f", {len(models.missing):,} are missing" if models.missing else ""
    lines = [
        f"{kind}, {config['algorithm']}; bets {_model_sizes(config, 'bet')}, raises "
        f"{_model_sizes(config, 'raise')}{limit}",
        f"{len(rows):,} flops solved in {duration(result.facts.seconds)}{missing}",
    ]
    goal = config["exploitability_threshold"]
    for spr in sorted({row["spr"] for row in rows}):
        some = [row for row in rows if row["spr"] == spr]
        figures = summary_of(some)
        lines += [
            "",
            f"SPR {spr:g}: exploitability {100 * figures['exploitability_mean']:.2f} % of the "
            f"pot on average, {100 * figures['exploitability_max']:.2f} % at most; "
            f"{figures['converged']:,} of {len(some):,} flops to {100 * goal:g} %, "
            f"{figures['iterations_mean']:.0f} iterations (at most {figures['iterations_max']:,})",
            *_texture_lines(some),
        ]
    return lines


def _model_sizes(config: Mapping[str, Any], kind: str) -> str:
    texts = [config["sizes"][street][kind] or "none" for street in ("flop", "turn", "river")]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


def _texture_lines(rows: Sequence[Row]) -> list[str]:
    """The first decisions by texture; means are weighted by the number of flops each stands for."""
    groups = [("all", list(rows))]
    for key in ("suits", "pairing", "high_card"):
        kinds = sorted({row[key] for row in rows}, key=TEXTURES.index)
        if len(kinds) > 1:
            groups += [(kind, [row for row in rows if row[key] == kind]) for kind in kinds]
    lines = [f"{'':12}{'flops':>7}{'EV OOP':>10}{'EV IP':>10}{'OOP bets':>11}{'IP bets':>10}"]
    for name, some in groups:
        mean = summary_of(some)
        lines.append(
            f"{name:12}{len(some):7,}{mean['ev_oop']:10.3f}{mean['ev_ip']:10.3f}"
            f"{100 * mean['bet_oop']:9.1f} %{100 * mean['bet_ip']:8.1f} %"
        )
    return [*lines, "EVs are shares of the pot; IP bets after a check."]


def table_lines(rows: Sequence[Row]) -> list[str]:
    """A table over flops in words: its figures, or the frequencies of actions."""
    decides = "reached" in rows[0]
    columns = [column for column in COLUMNS if column[0] in rows[0]]
    if "share" in rows[0]:
        share = (
            ("share", "gets here", 11, _percent) if decides else ("share", "of hands", 10, _percent)
        )
        columns.insert(0, share)
    actions = [key for key in rows[0] if key not in TABLE_KEYS] if decides else []
    heads = [*((head, width) for _, head, width, _ in columns), *((word, 10) for word in actions)]
    lines = [f"{'flop':8}{'suits':10}{'weight':>8}" + "".join(f"{h:>{w}}" for h, w in heads)]
    for row in rows:
        line = f"{row['flop']:8}{row['suits']:10}{row_weight(row):8,.0f}"
        line += "".join(f"{_cell(row[key], form):>{width}}" for key, _, width, form in columns)
        line += "".join(f"{_percent(row[word]):>10}" for word in actions)
        lines.append(line + ("" if row.get("reached", True) else f"   {NOT_REACHED}"))
    if actions:
        weights = [row["weight"] * row["share"] for row in rows]
        means = (_mean([row[word] for row in rows], weights) for word in actions)
        lines.append(f"{'all':37}" + "".join(f"{_percent(mean):>10}" for mean in means))
        legend = "gets here: share of the hands dealt this flop; then the frequency of each action."
    elif "ev_oop_bb" in rows[0]:
        legend = (
            "weight: of the 22,100 flops; of hands: of those that see a flop; exploitability: in "
            "% of the flop's pots; EVs: in bb, results of the whole hand."
        )
    else:
        legend = "weight: of the 22,100 flops. EVs are shares of the pot; IP bets after a check."
    return [*lines, legend]


def _cell(value: float | None, form: Callable[[float], str]) -> str:
    return "–" if value is None or math.isnan(value) else form(value)


def _percent(share: float) -> str:
    return percent_text(share, 2)


def _result(bb: float) -> str:
    return f"{round(bb, 2) + 0.0:+.2f}"


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    known = [pair for pair in zip(values, weights, strict=True) if not math.isnan(pair[0])]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total > 0 else math.nan


# Key, head, width and format.
COLUMNS: tuple[tuple[str, str, int, Callable[[float], str]], ...] = (
    ("spr", "SPR", 7, "{:g}".format),
    ("exploitability_pct", "exploitab.", 12, "{:.2f} %".format),
    ("exploitability", "exploitab.", 12, _percent),
    ("ev_oop_bb", "EV BB", 9, _result),
    ("ev_ip_bb", "EV SB", 9, _result),
    ("ev_oop", "EV OOP", 9, "{:.3f}".format),
    ("ev_ip", "EV IP", 9, "{:.3f}".format),
    ("bet_oop", "OOP bets", 11, _percent),
    ("bet_ip", "IP bets", 10, _percent),
)
