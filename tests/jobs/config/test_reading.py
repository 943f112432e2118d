"""Configs: everything that is wrong comes at once, with line, key and hint."""

import json
import warnings
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from allstreets.base import InputError
from allstreets.jobs import ConfigModel, ConfigWarning, RangeText, check_config, config_schema
from allstreets.jobs.config.model import ALIASES, OLD_VALUES, OldName, WrongKeyError
from allstreets.jobs.config.reading import read_config
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.config.train import TrainConfig


class Rake(ConfigModel):
    percent: float = Field(ge=0, le=100, examples=[5])
    cap: float | None = None


class Exact(ConfigModel):
    type: Literal["exact"]
    flops: tuple[str, ...] = ()


class Classes(ConfigModel):
    type: Literal["classes"]
    boards: int = 0


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Solver(ConfigModel):
    stack_depth: int = Field(gt=0, examples=[20])
    raise_sizes: tuple[float, ...] = (2.5,)
    algorithm: Literal["tuned", "linear", "vanilla"] = "tuned"
    prune: bool = False
    threshold: Annotated[float, Field(gt=0)] = 0.01
    rake: Rake | None = None
    rakes: tuple[Rake, ...] = ()
    by_street: dict[str, Rake] = Field(default_factory=dict)
    cards: Exact | Classes | None = Field(default=None, discriminator="type")
    size: float | str = 1.0
    name: str = ""
    output: Path | None = None
    oop: RangeText = "AA"
    pots: tuple[int, ...] = Field(default=(1,), min_length=1, max_length=3)
    colour: Colour = Colour.RED
    tag: str = Field(default="a", pattern="^[a-z]+$")

    @model_validator(mode="after")
    def _sizes_fit(self) -> "Solver":
        if self.raise_sizes and max(self.raise_sizes) > self.stack_depth:
            raise WrongKeyError("raise_sizes", "a raise is larger than the stack; lower it")
        return self


class Job(ConfigModel):
    solver: Solver


@pytest.fixture(autouse=True)
def old_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old names of the sections above."""
    names = {
        "boards": OldName("flops", unset=(0,)),
        "stack": OldName("stack_depth"),
        "depth": OldName("stack_depth", section="solver"),
        "capping": OldName("cap", section="solver"),
        "cfr_delta_threshold": OldName("threshold", "its unit is now a fraction of the pot"),
    }
    for name, old in names.items():
        monkeypatch.setitem(ALIASES, name, old)
    monkeypatch.setitem(OLD_VALUES, "algorithm", {"none": "vanilla", "mccfr": "sampled"})


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(text)
    return path


def read(tmp_path: Path, text: str) -> Job:
    return read_config(write(tmp_path, text), Job)


def errors(tmp_path: Path, text: str) -> list[str]:
    """The lines of the error, without the first, which says how many."""
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    first, *rest = str(error.value).split("\n")
    count = "1 problem" if len(rest) == 1 else f"{len(rest)} problems"
    assert first == f"{tmp_path / 'job.yaml'}: {count}"
    return [line.removeprefix("  ") for line in rest]


def test_a_good_file(tmp_path: Path) -> None:
    job = read(
        tmp_path,
        """
        solver:
          stack_depth: 20
          raise_sizes: [2.5, 3]
          prune: true
          rake: {percent: 5, cap: 1.5}
          rakes: [{percent: 1}]
          by_street: {flop: {percent: 2}}
          cards: {type: exact, flops: [AhKd2c]}
          size: 75%
          output: runs/a
          oop: [22, AKs, "76s:0.5"]
        """,
    )
    solver = job.solver
    assert solver.stack_depth == 20
    assert solver.raise_sizes == (2.5, 3.0)
    assert solver.rake == Rake(percent=5, cap=1.5)
    assert solver.rakes == (Rake(percent=1),)
    assert solver.by_street["flop"].percent == 2
    assert isinstance(solver.cards, Exact)
    assert solver.cards.flops == ("AhKd2c",)
    assert solver.size == "75%"
    assert solver.output == Path("runs/a")
    assert solver.oop == "22,AKs,76s:0.5"
    with pytest.raises(ValueError, match="frozen"):
        solver.stack_depth = 3


def test_everything_that_is_wrong_comes_at_once(tmp_path: Path) -> None:
    text = """\
solver:
  stack_dept: 20
  raise_sizes: 2.5
  algorithm: lienar
  prune: yes
  threshold: -1
  rake:
    percent: 101
    capp: 1
  rakes:
    - percent: 1
    - cap: 2
  size: [1]
  name: 22
  name: b
extra: 1
"""
    assert errors(tmp_path, text) == [
        "line 1: solver.stack_depth: is missing; add it, for example 20",
        "line 2: solver.stack_dept: unknown key; did you mean 'stack_depth'?",
        "line 3: solver.raise_sizes: must be a list, not 2.5; write [2.5]",
        "line 4: solver.algorithm: 'lienar' is not known; did you mean 'linear'?",
        "line 5: solver.prune: must be true or false, not 'yes'; write true",
        "line 6: solver.threshold: must be above 0, not -1",
        "line 8: solver.rake.percent: must be at most 100, not 101, for example 5",
        "line 9: solver.rake.capp: unknown key; did you mean 'cap'?",
        "line 12: solver.rakes[1].percent: is missing; add it, for example 5",
        "line 13: solver.size: must be a number or text, not [1]",
        "line 15: solver.name: given twice, first in line 14; keep one of the two",
        "line 16: extra: unknown key; choose one of: solver",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("stack_depth: 1e5", "must be a whole number, not 100000.0; write 100000"),
        ("stack_depth: 2.5", "must be a whole number, not 2.5, for example 20"),
        ("stack_depth: '20'", "must be a whole number, not '20'; remove the quotes"),
        ("stack_depth: true", "must be a whole number, not true, for example 20"),
        ("stack_depth:", "must be a whole number, not nothing, for example 20"),
        ("stack_depth: 0", "must be above 0, not 0, for example 20"),
        ("stack_depth: [1]", "must be a whole number, not [1], for example 20"),
    ],
)
def test_wrong_numbers(tmp_path: Path, line: str, expected: str) -> None:
    found = errors(tmp_path, f"solver:\n  {line}\n")
    assert found == [f"line 2: solver.stack_depth: {expected}"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("threshold: .nan", "threshold: must be a finite number, not .nan"),
        ("threshold: -.inf", "threshold: must be a finite number, not -.inf"),
        ("raise_sizes: [1, x]", "raise_sizes[1]: must be a number, not 'x'"),
        ("name: 22", 'name: must be text, not 22; quote it: "22"'),
        ("name: true", 'name: must be text, not true; quote it: "true"'),
        ("prune: 1", "prune: must be true or false, not 1"),
        ("rake: 5", "rake: must be a block of keys, not 5"),
        ("algorithm: 3", "algorithm: must be 'tuned', 'linear' or 'vanilla', not 3"),
        ("algorithm: q", "algorithm: 'q' is not known; choose one of: tuned, linear, vanilla"),
        ("cards: {type: exakt}", "cards.type: 'exakt' is not known; did you mean 'exact'?"),
        ("cards: {flops: []}", "cards: the key 'type' is missing; add it"),
        (
            "cards: {type: exact, flopz: []}",
            "cards.flopz: unknown key; did you mean 'flops'?",
        ),
        ("cards: {type: classes, boards: x}", "cards.boards: must be a whole number, not 'x'"),
        (
            "by_street: {flop: {percnt: 1, percent: 1}}",
            "by_street.flop.percnt: unknown key; did you mean 'percent'?",
        ),
        ("raise_sizes: [30]", "raise_sizes: a raise is larger than the stack; lower it"),
        ("pots: []", "pots: must have at least 1 entry, not 0"),
        ("pots: [1, 2, 3, 4]", "pots: must have at most 3 entries, not 4"),
        ("colour: bleu", "colour: 'bleu' is not known; did you mean 'blue'?"),
        ("tag: A1", "tag: must match pattern '^[a-z]+$', not 'A1'"),
        ("oop: 22.5", "oop: 22.5 is a number, not a range; quote it: '22.5'"),
        ("oop: [AA, 1e2]", "oop: 100.0 is a number, not a range; quote it: '100.0'"),
        (
            "oop: {76s: 0.5}",
            "oop: YAML reads a colon and a space as a key; write '76s:0.5', in quotes",
        ),
        (
            "oop: [AA, 76s: 0.5]",
            "oop: YAML reads a colon and a space as a key; write '76s:0.5', in quotes",
        ),
        (
            "oop: true",
            "oop: true is not a range; write text such as 'QQ+,AKs', in quotes",
        ),
    ],
)
def test_wrong_values(tmp_path: Path, line: str, expected: str) -> None:
    found = errors(tmp_path, f"solver:\n  stack_depth: 20\n  {line}\n")
    assert found == [f"line 3: solver.{expected}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("22", "22"),
        ("AA,22+", "AA,22+"),
        ("22:0.5", "22:0.5"),
        ("[22, 33, AKs]", "22,33,AKs"),
        ("['22:0.5', 76s:0.25]", "22:0.5,76s:0.25"),
        ("[22:0.5, AA]", "22:0.5,AA"),
    ],
)
def test_range_text(tmp_path: Path, text: str, expected: str) -> None:
    assert read(tmp_path, f"solver:\n  stack_depth: 9\n  oop: {text}\n").solver.oop == expected


@pytest.mark.parametrize(
    ("text", "what"), [("[1, 2]", "a list"), ("hello", "'hello'"), ("3", "3"), ("~", "nothing")]
)
def test_top_level_must_be_keys(tmp_path: Path, text: str, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_config(path, Job)
    assert str(error.value) == f"{path} must have 'key: value' lines at its top level, not {what}"


@pytest.mark.parametrize(
    ("folder", "read_as", "advice"),
    [
        (
            "sample_spots",
            TrainConfig,
            "describes a spot, not a whole game; .*: .* solve",
        ),
        ("sample_configurations", SpotConfig, "is a training file, not a spot; .*: .* train"),
    ],
)
def test_a_file_of_the_other_kind_names_the_command_for_it(
    folder: str, read_as: type[ConfigModel], advice: str
) -> None:
    samples = sorted((Path(__file__).parents[3] / folder).glob("*.yaml"))
    assert samples
    for sample in samples:
        with pytest.raises(InputError, match=f"^{sample} {advice}$"):
            read_config(sample, read_as)


def test_old_names_still_work(tmp_path: Path) -> None:
    assert read(tmp_path, "solver: {stack: 20}").solver.stack_depth == 20
    # A renamed key of one kind of section is not touched where another kind still has it.
    job = read(tmp_path, "solver: {stack: 20, cards: {type: classes, boards: 3}}")
    assert job.solver.cards == Classes(type="classes", boards=3)
    job = read(tmp_path, "solver: {stack: 20, cards: {type: exact, boards: [AhKd2c]}}")
    assert job.solver.cards == Exact(type="exact", flops=("AhKd2c",))


def test_an_old_name_may_belong_to_one_section(tmp_path: Path) -> None:
    assert read(tmp_path, "solver: {depth: 20}").solver.stack_depth == 20
    assert errors(tmp_path, "solver: {stack: 20, rake: {percent: 1, capping: 3}}") == [
        "line 1: solver.rake.capping: unknown key; did you mean 'cap'?"
    ]


def test_an_old_value_that_left_the_choice_to_other_keys(tmp_path: Path) -> None:
    text = "solver: {stack: 20, cards: {type: exact, boards: 0, flops: [AhKd2c]}}"
    assert read(tmp_path, text).solver.cards == Exact(type="exact", flops=("AhKd2c",))


def test_old_values_are_read_where_the_key_has_their_present_one(tmp_path: Path) -> None:
    assert read(tmp_path, "solver: {stack: 20, algorithm: none}").solver.algorithm == "vanilla"
    assert errors(tmp_path, "solver: {stack: 20, algorithm: mccfr}") == [
        "line 1: solver.algorithm: 'mccfr' is not known; choose one of: tuned, linear, vanilla"
    ]


def test_an_old_name_whose_unit_has_changed_warns(tmp_path: Path) -> None:
    path = write(tmp_path, "solver:\n  stack_depth: 20\n  cfr_delta_threshold: 0.5\n")
    with pytest.warns(ConfigWarning) as caught:
        job = read_config(path, Job)
    assert job.solver.threshold == 0.5
    assert [str(warning.message) for warning in caught] == [
        f"{path}, line 3: solver.cfr_delta_threshold: an old name of 'threshold'; "
        "its unit is now a fraction of the pot"
    ]


def test_a_refused_file_does_not_warn(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = errors(tmp_path, "solver:\n  stack: 20\n  cfr_delta_threshold: -0.5\n")
    assert found == ["line 3: solver.cfr_delta_threshold: must be above 0, not -0.5"]


def test_old_and_new_name_together(tmp_path: Path) -> None:
    assert errors(tmp_path, "solver:\n  stack: 20\n  stack_depth: 30\n") == [
        "line 2: solver.stack: an old name of 'stack_depth', but 'stack_depth' is given too; "
        "keep one of them"
    ]
    assert errors(tmp_path, "solver:\n  stack: 20\n  depth: 30\n") == [
        "line 3: solver.depth: an old name of 'stack_depth', but 'stack' is given too; "
        "keep one of them"
    ]


def test_messages_name_the_key_that_was_written(tmp_path: Path) -> None:
    found = errors(tmp_path, "solver:\n  stack: [20]\n")
    assert found == ["line 2: solver.stack: must be a whole number, not [20], for example 20"]


def test_long_values_and_many_problems_stay_readable(tmp_path: Path) -> None:
    (long,) = errors(tmp_path, f"solver:\n  stack_depth: {'x' * 5000}\n")
    assert len(long) < 200
    keys = "".join(f"  key{i}: 1\n" for i in range(80))
    path = write(tmp_path, f"solver:\n  stack_depth: 20\n{keys}")
    with pytest.raises(InputError) as error:
        read_config(path, Job)
    lines = str(error.value).split("\n")
    assert lines[0] == f"{path}: 80 problems"
    assert lines[-1] == "  and 30 more"
    assert len(lines) == 52


def test_data_of_a_program() -> None:
    job = check_config({"solver": {"stack": 9, "raise_sizes": (2, 3)}}, Job)
    assert job.solver == Solver(stack_depth=9, raise_sizes=(2, 3))
    with pytest.raises(InputError) as error:
        check_config({"solver": {"stack_depth": "9"}, "x": 1, 7: 8}, Job, "command line")  # type: ignore[dict-item]
    assert str(error.value) == (
        "command line: 3 problems\n"
        "  7: unknown key; choose one of: solver\n"
        "  solver.stack_depth: must be a whole number, not '9'; remove the quotes\n"
        "  x: unknown key; choose one of: solver"
    )


def test_schema_is_json_and_knows_the_keys() -> None:
    schema = json.loads(json.dumps(config_schema(Job)))
    assert schema["$schema"].startswith("https://json-schema.org/")
    solver = schema["$defs"]["Solver"]
    assert solver["additionalProperties"] is False
    assert solver["properties"]["stack_depth"]["exclusiveMinimum"] == 0
    kinds = {choice.get("type") for choice in solver["properties"]["oop"]["anyOf"]}
    assert kinds == {"string", "integer", "array"}
