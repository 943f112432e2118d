"""Generated pages of the reference: commands from their help, keys of files from their schemas.

`make docs` runs it in the program's environment while it builds the site:

    python docs/tools/reference.py commands
    python docs/tools/reference.py keys
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from allstreets.cli.main import app
from allstreets.jobs import ConfigModel, SpotConfig, TrainConfig, config_schema

WIDTH = 100  # of the help, in characters


def commands() -> Iterator[str]:
    """The help of every command, in the order of `allstreets --help`."""
    yield "# Commands\n\nThe output of `--help`, command by command.\n"
    root: Any = typer.main.get_command(app)
    yield f"```text\n{_help()}\n```\n"
    for name, command in root.commands.items():
        yield f"## allstreets {name}\n\n```text\n{_help(name)}\n```\n"
        if isinstance(command, TyperGroup):
            for verb in command.commands:
                yield f"### allstreets {name} {verb}\n\n```text\n{_help(name, verb)}\n```\n"


def _help(*words: str) -> str:
    shown = CliRunner().invoke(
        app, [*words, "--help"], terminal_width=WIDTH, color=False, prog_name="allstreets"
    )
    assert shown.exit_code == 0, shown.output
    return shown.output.rstrip()


SECTIONS: dict[str, type[ConfigModel]] = {"Training files": TrainConfig, "Spot files": SpotConfig}

TITLES = {
    "UnifiedConfig": "`solver` with `type: unified_cfr`",
    "PreflopConfig": "`solver` with `type: preflop_cfr`",
    "PostflopModelConfig": "`postflop_model`",
    "GameLockConfig": "An entry of `lock` in a whole game",
    "LockConfig": "An entry of `lock` in a spot",
    "EditConfig": "An entry of `edit`",
    "PostflopPot": "A kind of pot in `postflop_pots`",
    "PostflopStreet": "A street in `postflop_streets`, or of a kind of pot",
    "SizesByStreet": "Sizes by street",
}
"""Titles of the sections, by the name of their model."""


def keys() -> Iterator[str]:
    """A table of keys for each section of the files that commands read."""
    yield (
        "# Keys of files\n\nEvery key of training files and spot files, from the schemas that "
        "`allstreets config schema` prints. [Training](../training.md), [flops one by one]"
        "(../postflop-models.md) and [spots](../solving.md) explain them.\n"
    )
    for title, model in SECTIONS.items():
        schema = config_schema(model)
        yield f"## {title}\n"
        yield from _table(schema)
        for name, section in schema.get("$defs", {}).items():
            if section.get("type") == "object" and section.get("properties"):
                yield f"### {TITLES.get(name, name)}\n"
                yield from _table(section)


def _table(section: Mapping[str, Any]) -> Iterator[str]:
    needed = section.get("required", ())
    rows = ["| key | default | |", "|---|---|---|"]
    for key, value in section.get("properties", {}).items():
        default = "needed" if key in needed else _shown(value.get("default"))
        text = str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")
        rows.append(f"| `{key}` | {default} | {text} |")
    yield "\n".join(rows) + "\n"


def _shown(default: Any) -> str:
    return "–" if default is None else f"`{json.dumps(default)}`"


PAGES = {"commands": commands, "keys": keys}


def main() -> None:
    """Print the page that is named."""
    print("\n".join(PAGES[sys.argv[1]]()))


if __name__ == "__main__":
    main()
