"""Stored certificates: whole, checked, and of one state of a solution."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.certificates import certificate as some_certificate

from allstreets.engines import LiftedValues
from allstreets.solutions import Certificate
from allstreets.storage import CERTIFICATE
from allstreets.storage.certificates import (
    CertificateWork,
    certified_hash,
    read_certificate,
    write_certificate,
)

MANIFEST = {
    "game": {"stack": 20},
    "cards": "classes",
    "files": {"preflop": {"sha256": "12"}},
    "flops": [{"flop": "AsKh7d", "weight": 24.0, "sha256": "34"}, {"flop": "9s8s2h", "weight": 3}],
}


def certificate(**others: Any) -> Certificate:
    return some_certificate(judged=certified_hash(MANIFEST), of_a_later_version=1, **others)


def test_it_is_read_back(tmp_path: Path) -> None:
    assert read_certificate(tmp_path, MANIFEST) is None
    write_certificate(tmp_path, certificate())
    assert read_certificate(tmp_path, MANIFEST) == certificate()
    assert Certificate.of(json.loads(json.dumps(certificate().to_json()))) == certificate()
    assert certificate().flops_text == "64 flops that stand for all"
    assert certificate(chosen="all", flops=1755).flops_text == "all 1,755 flops"


@pytest.mark.parametrize("change", ["rules", "weight", "preflop", "flop"])
def test_of_a_solution_that_has_changed_it_is_outdated(tmp_path: Path, change: str) -> None:
    write_certificate(tmp_path, certificate())
    other = json.loads(json.dumps(MANIFEST))
    if change == "rules":
        other["game"]["stack"] = 21
    elif change == "preflop":
        other["files"]["preflop"]["sha256"] = "13"
    else:
        other["flops"][0]["weight" if change == "weight" else "sha256"] = 35
    found = read_certificate(tmp_path, other)
    assert found is not None
    assert found.outdated


def test_a_damaged_one_is_as_none(tmp_path: Path) -> None:
    write_certificate(tmp_path, certificate())
    path = tmp_path / CERTIFICATE
    text = path.read_text()
    for damaged in (text.replace("216", "21"), text[:-9], "[]", "{}"):
        path.write_text(damaged)
        assert read_certificate(tmp_path, MANIFEST) is None


def test_flops_are_kept_for_one_solution_and_by_how_they_were_completed(tmp_path: Path) -> None:
    work = CertificateWork(tmp_path, {"judged": "a"})
    assert work.differs() == []
    work.begin()
    best = np.random.default_rng(1).random((2, 3, 169))
    work.save("AsKh7d", None, LiftedValues(best), 1.5)
    work.save("9s8s2h", "classes", LiftedValues(best, 2 * best), 2.5)
    work.save("9s8s2h", "boards", LiftedValues(best), 3.5)
    again = CertificateWork(tmp_path, {"judged": "a"})
    again.begin()
    found, missing = again.load([("9s8s2h", "classes"), ("9s8s2h", None)])
    assert found is not None
    assert missing is None
    values, seconds = found
    assert seconds == 2.5
    np.testing.assert_array_equal(values.own, 2 * best)
    assert again.have([("AsKh7d", None), ("AsKh7d", "classes")]) == [True, False]
    other = CertificateWork(tmp_path, {"judged": "b"})
    assert other.differs() == ["judged"]
    assert other.load([("AsKh7d", None)]) == [None]
    assert other.have([("AsKh7d", None)]) == [False]
    other.begin()
    assert again.load([("AsKh7d", None)]) == [None]
