"""Forged manifests with a correct checksum: a clean error, or a solution to look at."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from builders.certificates import certificate
from builders.explorer_solutions import folder
from builders.forged import sealed
from builders.spot_sets import put_set
from harness.fuzzing import damaged

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.explorer.library import Library
from allstreets.explorer.views.view import open_view
from allstreets.storage import CERTIFICATE, MANIFEST, load, stored_keys, write_certificate

KINDS = ("spot", "trimmed spot", "set", "models", "preflop", "game", "exact game", "certificate")
NESTED: list[Any] = []
for _ in range(60):
    NESTED = [NESTED]
NASTY: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 3, 0.5, 2**31, 2**62, 2**63, 10**30, -(2**63)),
    *(1e308, -1e308, 5e-324, float("nan"), float("inf")),
    *(
        "",
        "x",
        "0",
        "-1",
        "../../x",
        "/etc/passwd",
        "\ud800",
        "\x00",
        "\x1b[31m",
        "=1+1",
        "9" * 400,
    ),
    *([], {}, [[]], [None], {"a": 1}, NESTED, "a" * 10_000),
)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind, which tests write manifests into."""
    root = tmp_path_factory.mktemp("bundles")
    names = {
        "spot": "turn",
        "trimmed spot": "trimmed",
        "models": "models",
        "preflop": "preflop",
        "game": "classes",
        "exact game": "exact",
    }
    found = {}
    for kind, name in names.items():
        found[kind] = root / kind.replace(" ", "-")
        shutil.copytree(folder(name), found[kind])
    found["set"] = put_set(root / "set", {"turn": {"QsJh2h5c": 0.1, "QsJh2h6c": 0.2}})
    found["certificate"] = root / "certificate"
    shutil.copytree(folder("classes"), found["certificate"])
    write_certificate(found["certificate"], certificate())
    return {kind: found[kind] for kind in KINDS}


def facts_file(kind: str, bundle: Path) -> Path:
    return bundle / (CERTIFICATE if kind == "certificate" else MANIFEST)


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """(list or mapping, place in it) of everything in JSON data."""
    inside = data.items() if isinstance(data, dict) else enumerate(data)
    for place, value in list(inside):
        yield data, place
        if isinstance(value, dict | list):
            yield from places(value)


def edited(facts: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Facts with a few values replaced, deleted, doubled or swapped."""
    facts = deepcopy(facts)
    for _ in range(rng.randint(1, 3)):
        everywhere = list(places(facts))
        if not everywhere:
            break
        holder, place = rng.choice(everywhere)
        edit = rng.randrange(5)
        if edit < 2:
            holder[place] = deepcopy(rng.choice(NASTY))
        elif edit == 2:
            del holder[place]
        elif edit == 3:
            other, elsewhere = rng.choice(everywhere)
            holder[place] = deepcopy(other[elsewhere])
        elif isinstance(holder, list):
            holder[place:place] = [deepcopy(holder[place])] * rng.choice((1, 3))
        else:
            holder[f"{place}x"] = holder.pop(place)
    return facts


def forged(text: bytes, case: int) -> bytes:
    """The manifest of a case: edited value by value, or byte by byte."""
    rng = random.Random(case)
    facts = json.loads(text)
    facts.pop("checksum")
    if rng.random() < 0.75:
        return sealed(edited(facts, rng)).encode()
    data = damaged(json.dumps(facts).encode(), case)
    try:
        read = json.loads(data)
        return sealed(read).encode() if isinstance(read, dict) else data
    except (ValueError, RecursionError):
        return data


def look(bundle: Path) -> None:
    """Everything that the explorer's list and a report read; the report raises errors."""
    for card in Library([bundle]).cards():
        assert card.problem is None or "not as it was written" not in card.problem, card.problem
    solution = load(bundle)
    assert str(solution)
    assert repr(solution)
    stored_keys(bundle)
    open_view(bundle).describe()


def failures(
    bundles: dict[str, Path], cases: range, look_at: Callable[[Path], object]
) -> list[str]:
    """The results that were not clean errors, by the number of the case."""
    found = []
    for kind, bundle in bundles.items():
        file = facts_file(kind, bundle)
        valid = file.read_bytes()
        try:
            for case in cases:
                if KINDS[case % len(KINDS)] != kind:
                    continue
                file.write_bytes(forged(valid, case))
                try:
                    look_at(bundle)
                except InputError as error:
                    if str(bundle) not in str(error):
                        found.append(f"case {case}: which folder? {error}"[:300])
                except Exception as error:
                    found.append(f"{kind}, case {case}: {type(error).__name__}: {error}"[:300])
        finally:
            file.write_bytes(valid)
    return found


def reported(bundle: Path) -> None:
    """By the command, whose exit code tells a traceback from an error for people."""
    if main(["report", str(bundle)]) not in (0, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ALLSTREETS_DEBUG", "1")
            main(["report", str(bundle)])  # raises what it had caught


def test_what_is_valid_can_be_looked_at(bundles: dict[str, Path]) -> None:
    for kind, bundle in bundles.items():
        if kind != "set":
            look(bundle)
        assert main(["report", str(bundle)]) == 0, kind


def test_forged_manifests(bundles: dict[str, Path]) -> None:
    assert failures(bundles, range(200), look) == []


def test_reports_of_forged_manifests(
    bundles: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures(bundles, range(40), reported) == []
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.thorough
def test_very_many_forged_manifests(bundles: dict[str, Path]) -> None:
    assert failures(bundles, range(200, 20_200), look) == []
    assert failures(bundles, range(200, 1_000), reported) == []
