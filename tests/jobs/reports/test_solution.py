"""A solution in words: every number with its unit, and the game that it covers."""

import json
from dataclasses import replace

from builders.whole_solution import buckets, forgotten, raked, result

from allstreets.betting import PlayerSizes
from allstreets.cards.flop_sets import every_flop
from allstreets.games.whole_game import WholeGame
from allstreets.jobs.reports.solution import quality_lines, solution_mapping, summary_lines
from allstreets.solutions import PreflopRoots, WholeSolution


def test_summary() -> None:
    assert summary_lines(result()) == [
        "20 bb stacks, blinds 0.5/1 bb, raises 2.5x and all-in, raise cap 4",
        "after the flop bets 100%, raises 100%, 1 raise per street",
        "3 flops (spread_3), cards: classes (hand classes, turn and river averaged over), "
        "memory: resident",
        "30 iterations of tuned",
        "exploitability in its own game 110 mbb/hand: best response preflop through river, on 3 "
        "flops with cards: classes",
        "  23.7 mbb/hand by a best response before the flop alone",
        "value of the game: SB -10.3 mbb/hand, BB +10.3 mbb/hand",
        "with real cards: not known (hand classes are blind to turn and river: one of 0.21 "
        "mbb/hand in its own game lost 216 with real cards); allstreets certify measures it",
    ]


def test_antes_rake_and_buckets() -> None:
    lines = summary_lines(WholeSolution.of(raked(), seconds=75.0))
    assert lines[0] == (
        "6 bb stacks, blinds 0.5/1 bb, ante 0.1 bb, raises none and all-in, raise cap 4, "
        "rake 5 %, at most 0.3 bb"
    )
    assert lines[2].startswith("1 flop, cards: classes")
    assert lines[3] == "20 iterations of tuned in 1:15"
    assert (
        "cards: buckets (5, 12, 9) seed 1 (hands in buckets"
        in summary_lines(WholeSolution.of(buckets()))[2]
    )


def test_players_and_streets_that_differ() -> None:
    found = result()
    wide, small = PlayerSizes.parse("33%,75%", "60%"), PlayerSizes.parse("50%", "")
    sizes = ((wide, small), (small, small), (small, small))
    game = WholeGame(found.rules, sizes, every_flop(), None)
    lines = summary_lines(
        WholeSolution.game_of(game, found.stored.source, replace(found.facts, memory=None))
    )
    assert lines[1] == (
        "after the flop flop: BB bets 33%,75%, raises 60%; SB bets 50%, raises none; "
        "turn: bets 50%, raises none; river: bets 50%, raises none"
    )
    assert lines[2].startswith("all 1,755 flops, cards: classes")
    assert "on all 1,755 flops with" in lines[4]


def test_what_is_not_known() -> None:
    lines = summary_lines(WholeSolution.of(forgotten(), memory="per_batch"))
    assert lines[2].endswith("memory: per_batch; no strategies after the flop are stored")
    assert lines[4] == "exploitability not known: memory: per_batch stores no strategies of flops"
    assert lines[5].startswith("with real cards: not known")


def test_a_preflop_solution() -> None:
    whole = result()
    facts = replace(whole.facts, preflop_exploitability=None)
    preflop = WholeSolution(PreflopRoots(whole.rules, whole.before), None, facts)
    assert "against the values that pots are given there" in quality_lines(preflop)[0]
    assert len(summary_lines(preflop)) == 4
    data = solution_mapping(preflop)
    assert (data["kind"], data["flops"]) == ("preflop", None)


def test_json() -> None:
    data = json.loads(json.dumps(solution_mapping(result()), allow_nan=False))
    assert (data["kind"], data["flops"], data["iterations"]) == ("unified", 3, 30)
    assert data["exploitability_mbb"] == result().exploitability
    assert [node["line"] for node in data["decisions"]] == ["", "a"]
    values = result().values
    assert values is not None
    assert data["values_mbb"] == {"BB": values[0], "SB": values[1]}
    assert len(data["decisions"][0]["hands"]) == 169
    unknown = json.loads(json.dumps(solution_mapping(WholeSolution.of(forgotten()))))
    assert unknown["exploitability_mbb"] is None
    assert unknown["decisions"][0]["hands"][0]["ev_bb"] is None
