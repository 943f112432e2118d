"""allstreets config: the schemas of config files."""

import json
from enum import StrEnum
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class ConfigKind(StrEnum):
    """The kinds of config files."""

    spot = "spot"
    train = "train"


@app.callback()
def config() -> None:
    """Schemas of config files.

    \b
    Examples:
      allstreets config schema
      allstreets config schema spot > spot.schema.json
      allstreets config schema train > train.schema.json
    """


@app.command("schema")
def schema(
    kind: Annotated[ConfigKind, typer.Argument(help="The kind of file.")] = ConfigKind.spot,
) -> None:
    """Print the JSON schema of a config file, for editors that check YAML while you type.

    \b
    Examples:
      allstreets config schema
      allstreets config schema spot > spot.schema.json
      allstreets config schema train > train.schema.json
    """
    from allstreets.training import ConfigModel, SpotConfig, TrainConfig, config_schema

    models: dict[ConfigKind, type[ConfigModel]] = {
        ConfigKind.spot: SpotConfig,
        ConfigKind.train: TrainConfig,
    }
    typer.echo(json.dumps(config_schema(models[kind]), indent=2))
