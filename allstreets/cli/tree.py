"""allstreets tree: the preflop tree, and the size of the game below it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.terminal.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from allstreets.jobs import UnifiedJob


def tree(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.yaml", help="A training file; default: a small example."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the preflop tree of a training file, with sizes in big blinds.

    \b
    Examples:
      allstreets tree
      allstreets tree sample_configurations/unified_20bb.yaml

    At pots that see a flop, decisions, actions and memory are per flop; the totals cover all flops
    of the file.
    """
    from allstreets.base import InputError
    from allstreets.betting import build_preflop_tree, draw_tree
    from allstreets.jobs import FIRST_RUN, UnifiedConfig, read_train_config

    config = read_train_config(file or FIRST_RUN).solver
    if config is None:
        raise InputError(f"{file} has no section solver, so it has no preflop tree")
    if not isinstance(config, UnifiedConfig):
        rules = config.preflop_rules()
        drawn = draw_tree(build_preflop_tree(rules), rules)
        if json:
            print_json({"tree": drawn})
            return
        _print(drawn)
        return
    from allstreets.jobs import plan_unified

    job = plan_unified(config)
    if json:
        print_json(_facts(job))
        return
    _draw(job)


def _draw(job: "UnifiedJob") -> None:
    from allstreets.base import data_size
    from allstreets.betting import draw_tree

    need, config = job.need, job.config
    notes = {}
    for pot, size in zip(job.game.flop_pots, job.game.tree_sizes, strict=True):
        share = need.memory_bytes * size.slots // max(need.slots * need.flops, 1)
        notes[pot] = (
            f"{size.decision_count:,} decisions, {size.slots:,} actions, "
            f"{data_size(share)} per flop"
        )
    _print(draw_tree(job.game.tree, job.game.preflop, notes))
    out = console()
    out.print(
        f"\nPreflop {need.preflop_decisions:,} decisions; {need.pots} pots see a flop: "
        f"{need.postflop_decisions:,} decisions and {need.slots:,} actions on each of "
        f"{need.flops:,} flops, cards {config.cards}.",
        soft_wrap=True,
    )
    out.print(
        f"Regrets and strategies {data_size(need.memory_bytes)}, in all "
        f"{data_size(need.resident_bytes)} of memory (memory: {config.memory}), about "
        f"{need.seconds_per_iteration:.2g} s per iteration.",
        soft_wrap=True,
    )
    on_device = job.on_device()
    if on_device is not None:
        out.print(on_device.text, soft_wrap=True)


def _print(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line)


def _facts(job: "UnifiedJob") -> dict[str, Any]:
    from dataclasses import asdict

    pots = [
        {
            "name": pot.name,
            "pot_bb": pot.pot / 100,
            "stack_bb": pot.stack / 100,
            "raises": pot.raises,
            "nodes": size.node_count,
        }
        for pot, size in zip(job.game.flop_pots, job.game.tree_sizes, strict=True)
    ]
    return {**asdict(job.need), "flop_pots": pots}
