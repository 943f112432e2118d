"""Config files: YAML in, a checked model out, or one error that names everything that is wrong.

1. Read the file as plain data with the line of every key (`yaml_file`).
2. Give old keys and values their present names (`old_names`).
3. Check against the pydantic model and put its complaints into words (`config_problems`).
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from allstreets.base import InputError
from allstreets.training.config_model import ConfigModel, ConfigWarning
from allstreets.training.config_problems import explain
from allstreets.training.old_names import Renaming
from allstreets.training.problems import KeyPath, Problem, key_text, problems_error, shown
from allstreets.training.yaml_file import YamlFile, parse_yaml, read_yaml

M = TypeVar("M", bound=ConfigModel)


def read_config(path: Path, model: type[M]) -> M:
    """Read and check a YAML file; all problems come in one `InputError`.

    An old key with another meaning gives a `ConfigWarning` of one line.
    """

    return _of_file(read_yaml(path), model, str(path))


def read_config_text(text: str, model: type[M], source: str) -> M:
    """As `read_config`, of YAML that lies in no file; `source` names it in messages."""
    return _of_file(parse_yaml(text, source), model, source)


def _of_file(file: YamlFile, model: type[M], source: str) -> M:
    if not isinstance(file.data, dict):
        what = "a list" if isinstance(file.data, list) else shown(file.data)
        raise InputError(f"{source} must hold 'key: value' lines at its top level, not {what}")
    return _check(file.data, model, source, file.lines, file.problems)


def check_config(data: Mapping[str, Any], model: type[M], source: str = "config") -> M:
    """Check data of a program or of the command line as `read_config` does a file.

    `source` names the data in messages, such as "command line".
    """
    plain = json.loads(json.dumps(dict(data), default=str))  # text keys, lists for tuples
    return _check(plain, model, source, {}, ())


def config_schema(model: type[ConfigModel]) -> dict[str, Any]:
    """The JSON schema of a model, for editors and for people who look a key up."""
    schema = model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _check(
    written: Mapping[str, Any],
    model: type[M],
    source: str,
    lines: Mapping[KeyPath, int],
    found: Sequence[Problem],
) -> M:
    def problem(path: KeyPath, text: str) -> Problem:
        return Problem(_line(lines, path), key_text(path), text)

    renaming = Renaming()
    data = renaming.apply(written, model)
    problems = [*found, *(problem(path, text) for path, text in renaming.clashes)]
    # Problems found while reading are not reported again.
    settled = {each.key for each in problems if each.key}
    checked: M | None = None
    try:
        # As JSON, because there strictness is about values: a list may fill a tuple.
        checked = model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        complaints = [
            problem(renaming.as_written(path), text)
            for path, text in explain(error, data, renaming.sections)
        ]
        problems += [each for each in complaints if each.key not in settled]
    if problems or checked is None:
        raise problems_error(source, problems)
    for path, note in renaming.notes:
        line = lines.get(path)
        place = f"{source}, line {line}" if line else source
        warnings.warn(f"{place}: {key_text(path)}: {note}", ConfigWarning, stacklevel=3)
    return checked


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """The line of `path`, or of the nearest key above it (a missing key has none), or else 0."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 0)
