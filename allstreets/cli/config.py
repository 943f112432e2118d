"""allstreets config: the schemas of config files, and files made from other programs' trees."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


class ConfigKind(StrEnum):
    """The kinds of config files."""

    spot = "spot"
    train = "train"


@app.callback()
def config(context: typer.Context) -> None:
    """Print schemas of config files, and config files made from other programs' trees.

    \b
    Examples:
      allstreets config from-pio tree.txt > spot.yaml
      allstreets config from-hrc export.zip > game.yaml
      allstreets config schema
      allstreets config schema spot > spot.schema.json
      allstreets config schema train > train.schema.json
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("schema")
def schema(
    kind: Annotated[
        ConfigKind, typer.Argument(metavar="KIND", help="The kind of file.")
    ] = ConfigKind.spot,
) -> None:
    """Print the JSON schema of a config file, for editors that check YAML while you type.

    \b
    Examples:
      allstreets config schema
      allstreets config schema spot > spot.schema.json
      allstreets config schema train > train.schema.json
    """
    from allstreets.jobs import ConfigModel, SpotConfig, TrainConfig, config_schema

    models: dict[ConfigKind, type[ConfigModel]] = {
        ConfigKind.spot: SpotConfig,
        ConfigKind.train: TrainConfig,
    }
    typer.echo(json.dumps(config_schema(models[kind]), indent=2))


@app.command("from-pio")
def from_pio(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tree of PioSOLVER's viewer.")],
) -> None:
    """Print a PioSOLVER tree as a spot file; settings without a counterpart are named on stderr.

    \b
    Examples:
      allstreets config from-pio tree.txt > spot.yaml
      allstreets solve spot.yaml --output solved/

    The viewer's settings are read (#Pot#55, #FlopConfig.BetSize#33), or the commands that build the
    tree (set_pot, set_range, add_line): docs/solving.md.
    """
    from allstreets.base import InputError
    from allstreets.cli.terminal.streams import read_text
    from allstreets.interop import read_pio_script

    try:
        tree = read_pio_script(read_text(file))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    typer.echo(tree.yaml, nl=False)
    if tree.left_out:
        typer.echo(f"Left out: {'; '.join(tree.left_out)}.", err=True)
    if tree.differs:
        typer.echo(f"The tree differs: {tree.differs}.", err=True)


@app.command("from-hrc")
def from_hrc(
    source: Annotated[
        Path, typer.Argument(metavar="EXPORT", help="The folder or the .zip of an export of HRC.")
    ],
) -> None:
    """Print a training file of the whole game with the preflop tree of an export of HRC.

    \b
    Examples:
      allstreets config from-hrc hrc-export/ > game.yaml
      allstreets train game.yaml --output game/
      allstreets import hrc-export/ hrc/ && allstreets compare hrc/ game/ --line r2.5

    Sizes after the flop, card model and flops are not in the export: edit them. docs/hrc.md
    """
    from allstreets.interop import read_hrc, training_file

    typer.echo(training_file(read_hrc(source)), nl=False)
