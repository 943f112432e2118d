"""Solutions in words: the game, how it was solved, and notes on how to read the numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from allstreets.betting import Player, PreflopRules, Street, ante_text, bb_text
from allstreets.cards import Range
from allstreets.engines import CardModel
from allstreets.explorer.headlines import MBB, PERCENT, Headline, curve, headline
from allstreets.explorer.models.solution import Curve, Fact, Features
from allstreets.explorer.solves.spots import changes_text
from allstreets.explorer.views.hands import weights_text
from allstreets.games import Lock, Spot, WholeGame
from allstreets.jobs import certificate_lines
from allstreets.solutions import SpotSolution, WholeSolution, locks_text

Entries = Iterable[tuple[str, str | None]]  # (label, value) of facts; None: left out

SHOWN_LOCKS = 8  # of a lock on every card there are dozens

AVERAGED = (
    "turn and river cards are averaged over: a decision there is the same for every card, and "
    "equities are those of the flop"
)


@dataclass(frozen=True)
class Description:
    """A solution in words and figures."""

    title: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    curve: Curve
    features: Features
    root: str  # the line to begin with


def _description(
    head: Headline,
    facts: Entries,
    notes: Iterable[str],
    features: Features,
    checks: Sequence[Mapping[str, Any]] = (),
    root: str = "",
) -> Description:
    return Description(
        title=head.title,
        facts=tuple(Fact(label=label, value=value) for label, value in facts if value),
        notes=tuple(notes),
        curve=curve(head.unit, checks),
        features=features,
        root=root,
    )


def _seconds(value: float) -> str | None:
    if not value:
        return None
    if value < 60:
        return f"{value:.3g} s"
    minutes, seconds = divmod(round(value), 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _error(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value:.3g} {unit}"


def _labels(manifest: Mapping[str, Any]) -> Entries:
    return [("Name", manifest.get("name")), ("Description", manifest.get("description"))]


def _sizes(bet_sizes: Mapping[str, Mapping[str, str]]) -> Entries:
    for key, lists in bet_sizes.items():
        street, player = key.split("_")
        yield f"{street.capitalize()} {player.upper()}", _bets(lists)


def _rake(rate: float, cap: str | None) -> str | None:
    if not rate:
        return None
    return f"{100 * rate:g} % of the pot" + ("" if cap is None else f", at most {cap}")


def _thresholds(add: float, force: float, merging: float) -> Entries:
    """Thresholds that make a size all-in, or one of two; 0 does nothing."""
    yield "All-in added", f"where it is at most {add:g} pots" if add else None
    yield "All-in forced", f"where at most {force:g} pots would be left" if force else None
    yield "Sizes merged", f"where closer than {merging:g} pots" if merging else None


def describe_spot(
    result: SpotSolution, manifest: Mapping[str, Any], *, boards: bool
) -> Description:
    """A solved spot; `boards`: whether it was solved on others, too."""
    config, head = manifest["config"], headline("spot", manifest)
    spot, tree, kept = result.spot, result.spot.tree, result.stored_streets
    first = tree.first_street
    streets = [street.text for street in Street if street >= first][:kept]
    counts = tree.decision_counts()
    decisions = ", ".join(f"{street.text} {count:,}" for street, count in counts.items())
    notes = []
    if len(streets) < Street.RIVER - first + 1:
        notes.append(
            f"stored: {' and '.join(streets)}; later streets are solved again when they are opened"
        )
    if spot.lock:
        notes.append(_locked(spot.lock))
    facts = [
        *_labels(manifest),
        ("Board", config["board"]),
        ("Pot", f"{spot.pot:,} chips"),
        ("Stacks", f"{spot.stack:,} chips, SPR {spot.stack / spot.pot:.3g}"),
        ("OOP range", _range(spot, Player.OOP)),
        ("IP range", _range(spot, Player.IP)),
        *_sizes(config["bet_sizes"]),
        ("Raises per street", None if spot.max_raises is None else _count(spot.max_raises)),
        *_thresholds(spot.add_allin_threshold, spot.force_allin_threshold, spot.merging_threshold),
        ("Big blind", None if spot.chips_per_bb is None else f"{spot.chips_per_bb:g} chips"),
        ("Rake", _rake(spot.rake, None if spot.rake_cap is None else f"{spot.rake_cap:g} chips")),
        *(
            (f"Sizes at {edit.line or 'the first decision'}", changes_text(edit))
            for edit in spot.edit
        ),
        *_locks(spot.lock),
        *_made_simple(head),
        ("Tree", f"decisions: {decisions}"),
        ("Cards", "real combos, every turn and river"),
        ("Algorithm", config["algorithm"]),
        ("Iterations", f"{manifest['iterations']:,}"),
        ("Exploitability", _error(head.exploitability, PERCENT)),
        ("EV at the start", "OOP {:.4g}, IP {:.4g} chips".format(*manifest["evs"])),
        ("Time", _seconds(manifest["seconds"])),
    ]
    features = Features(
        combos=True, cards=first < Street.RIVER and kept > 1, flops=boards, equity=True
    )
    return _description(head, facts, notes, features, manifest["metrics"])


def _locked(locks: Sequence[Lock]) -> str:
    return f"{locks_text(locks)}: the strategy there was given, not solved"


def _locks(locks: Sequence[Lock]) -> Entries:
    for lock in locks[:SHOWN_LOCKS]:
        given = {"all hands": lock.strategy} if lock.strategy is not None else {}
        texts = []
        for hands, mix in {**given, **lock.hands}.items():
            shares = (f"{word} {100 * chance:g} %" for word, chance in mix.items() if chance)
            texts.append(f"{hands}: {', '.join(shares)}")
        takers = [f"{word} {Range.parse(some).combos:.1f}" for word, some in lock.ranges.items()]
        texts += [f"by combo, in combos: {', '.join(takers)}"] if takers else []
        asked = [f"{word} {share}" for word, share in lock.frequencies.items()]
        texts += [f"the range: {', '.join(asked)}"] if asked else []
        texts += [f"as in {lock.solution}"] if lock.solution else []
        yield f"Lock at {lock.line.strip() or 'the first decision'}", "; ".join(texts)
    more = len(locks) - SHOWN_LOCKS
    yield "Further locks", str(more) if more > 0 else None


def _range(spot: Spot, player: Player) -> str:
    held = spot.ranges[player]
    return f"{held.combos:.6g} combos: {weights_text(held.weights, spot.cards)}"


def describe_whole(result: WholeSolution, manifest: Mapping[str, Any]) -> Description:
    """A solved whole game, or the part of one before the flop."""
    facts_of, rules = result.facts, result.rules
    head = headline("unified" if result.is_game else "preflop", manifest)
    cap = None if rules.rake_cap is None else f"{bb_text(rules.rake_cap)} bb"
    rake, when = _rake(rules.rake, cap), "none" if rules.no_flop_no_drop else "also"
    facts: list[tuple[str, str | None]] = [
        *_labels(manifest),
        ("Stacks", f"{bb_text(rules.stack)} bb"),
        ("Blinds", f"{bb_text(rules.small_blind)}/{bb_text(rules.big_blind)} bb"),
        ("Ante", ante_text(rules).removeprefix("ante ") or "none"),
        ("Rake", f"{rake}, {when} without a flop" if rake else "none"),
        *_raises(rules),
    ]
    notes: list[str] = []
    features = Features(combos=False, cards=False, flops=False, equity=True)
    if result.is_game:
        flops = result.game.flops
        facts += [
            *_sizes(manifest["game"]["postflop_sizes"]),
            *_pot_sizes(manifest["game"].get("postflop_pot_sizes", {})),
            *_rules_after(result.game),
            ("Flops", f"{len(flops.flops):,} ({flops.name})"),
            ("Their cards", None if flops.is_all else ", ".join(flop.text for flop in flops.flops)),
            ("Cards after the flop", str(result.cards)),
            ("Stored", manifest.get("kept")),
        ]
        notes += _notes_after(result)
        kept = result.has_flops
        features = Features(
            combos=kept and result.cards.plays_combos,
            cards=kept and result.cards.stores_cards,
            flops=kept,
            equity=True,
        )
    else:
        notes.append("the solution ends where the flop is dealt")
    if result.locks:
        notes.append(_locked(result.locks))
    values, judged = facts_of.values, ""
    if result.is_game and result.game.pots:  # an abstraction's own figure
        judged = f" {facts_of.judged}"
    real = None
    if facts_of.certificate is not None:
        real = "; ".join(line.strip() for line in certificate_lines(facts_of.certificate))
    facts += [
        *(_locks(result.locks) if result.locks else [("Locks", "none: every strategy was solved")]),
        *_made_simple(head),
        ("Algorithm", facts_of.algorithm),
        ("Iterations", f"{facts_of.iterations:,}"),
        ("Seed", str(manifest["seed"]) if "seed" in manifest else None),
        (f"Exploitability{judged}", _error(facts_of.exploitability, MBB)),
        ("With real cards", real),
        ("Value", values and "BB {:.4g}, SB {:.4g} mbb/hand".format(*values).replace("-", "−")),
        ("Time", _seconds(facts_of.seconds)),
    ]
    return _description(head, facts, notes, features, facts_of.metrics)


def _rules_after(game: WholeGame) -> Entries:
    """The rules that limit the betting after the flop."""
    yield "Raises per street", f"{_count(game.max_raises)} after the bet"
    yield from _thresholds(
        game.add_allin_threshold, game.force_allin_threshold, game.merging_threshold
    )
    yield "Smallest bet", f"{bb_text(game.smallest_bet)} bb" if game.may_bet_less else None


def _made_simple(head: Headline) -> Entries:
    """The solution that strategies simplify, and the cost of that."""
    made = head.simple
    if made is not None:
        yield "Made simple", f"{' and '.join(made.players)}: {made.rule}"
        yield "Made from", made.source
        yield "Cost", made.cost


def _raises(rules: PreflopRules) -> Entries:
    if rules.lines:
        yield "Tree before the flop", f"{len(rules.lines):,} lines"
        return
    yield "Raises before the flop", f"{_count(rules.raise_cap)}, all-in aside"
    forced = rules.force_allin_threshold
    yield "Raise made all-in", f"where at most {forced:g} pots would be left" if forced else None
    yield "Limp", "allowed" if rules.limp else "not allowed"
    for player in (Player.IP, Player.OOP):
        texts = [" or ".join(map(str, level)) for level in rules.raise_sizes[player] if level]
        if rules.allin_spr is None:
            texts.append("all-in")
        elif rules.allin_spr:
            texts.append(f"all-in at an SPR of {rules.allin_spr:g} or less")
        yield f"Raises {player.seat}", ", then ".join(texts) or "none"


def _pot_sizes(pots: Mapping[str, Any]) -> Entries:
    for kind, sizes in pots.items():
        name = kind.replace("bet", "-bet")
        yield from ((f"{what}, {name} pots", text) for what, text in _sizes(sizes))


def _notes_after(result: WholeSolution) -> list[str]:
    """Notes on the flops of a whole game."""
    if not result.has_flops:
        return ["stores no strategies after the flop; solve any flop from here"]
    notes, flops = _notes_of_cards(result.cards), result.game.flops
    if not result.cards.plays_combos and not flops.is_all:
        notes.append(f"of the 1,755 flops {len(flops.flops):,} are dealt, each by its weight")
    return notes


def _notes_of_cards(cards: CardModel) -> list[str]:
    if cards.stores_cards:
        return [
            "after the flop, every card is real and strategies are by combo; on a turn or river "
            "board hands of the same turn or river bucket play alike: a hand's panel says which"
        ]
    if cards.plays_combos:
        return ["after the flop, strategies are by combo, and only those on the flop are stored"]
    alike = "hands of a bucket play alike, so equities after the flop are not shown"
    return [AVERAGED, *([alike] if cards.kind == "buckets" else [])]


def describe_flops(result: WholeSolution, manifest: Mapping[str, Any]) -> Description:
    """Flops solved one by one."""
    models, head = result.models, headline("postflop", manifest)
    config, missing = models.config, len(models.missing)
    notes = [
        "both ranges are full: they contain every hand that the flop leaves",
        *_notes_of_cards(result.cards),
    ]
    if missing:
        notes.append(f"{missing:,} of {len(models.wanted):,} flops are not solved yet")
    facts = [
        *_labels(manifest),
        ("Stack to pot", ", ".join(f"{spr:g}" for spr in models.sprs)),
        *((street.capitalize(), _bets(lists)) for street, lists in config["sizes"].items()),
        ("Raises per street", _count(config["max_raises_per_street"])),
        ("Cards after the flop", str(result.cards)),
        ("Algorithm", config["algorithm"]),
        ("Exploitability", _error(head.exploitability, f"{PERCENT}, mean over flops")),
        ("Time", _seconds(result.facts.seconds)),
    ]
    equity = result.cards.kind != "buckets"
    features = Features(combos=False, cards=False, flops=True, equity=equity)
    return _description(head, facts, notes, features, root=result.at().line)


def _bets(lists: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text}" for name, text in lists.items() if text) or "no bets"


def _count(number: int | None) -> str:
    return "any number" if number is None else str(number)
