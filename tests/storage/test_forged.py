"""Forged folders lead nowhere: names stay inside, and no address is contacted."""

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.explorer_solutions import folder
from builders.forged import forge
from builders.spot_sets import put_set

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.storage import load, load_flops, load_preflop, load_spot, load_spots, origin
from allstreets.storage.mapped import write_mapped

OUTSIDE = (
    "../../stolen",
    "/tmp/stolen",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    ".remote",
    "x\n",
    None,
    7,
    ["preflop"],
)


def copy_of(name: str, root: Path) -> Path:
    target = root / "bundle"
    shutil.copytree(folder(name), target)
    return target


def test_a_folder_cannot_name_an_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the file that is missing lies at the address that the folder names."""
    bundle = copy_of("preflop", tmp_path)
    (bundle / ".remote").write_text(f"file://{tmp_path}/server")
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    path = bundle / manifest["files"]["preflop"]["file"]
    (tmp_path / "server").mkdir()
    path.rename(tmp_path / "server" / path.name)
    assert main(["report", str(bundle)]) == 2
    assert "is missing" in capsys.readouterr().err
    assert not path.exists()
    assert origin(bundle) == str(bundle)  # nor is it called by that address


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_of_files_stay_inside(name: Any, tmp_path: Path) -> None:
    """By a manifest whose checksum is right, beside files that are there."""

    def named(facts: dict[str, Any]) -> None:
        facts["files"]["preflop"]["file"] = name

    bundle = copy_of("preflop", tmp_path)
    (tmp_path / "stolen").write_text("secret")
    forge(bundle / "manifest.json", named)
    with pytest.raises(InputError) as error:
        load_preflop(bundle)
    assert str(error.value).startswith(f"{bundle}/manifest.json is damaged: files.preflop.file is")


def renamed_token(facts: dict[str, Any]) -> None:
    facts["token"] = "x/../.."


def renamed_flop(facts: dict[str, Any]) -> None:
    facts["rows"][0]["flop"] = "../AsKh7d"


@pytest.mark.parametrize("change", [renamed_token, renamed_flop])
def test_names_of_flops_stay_inside(
    change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    bundle = copy_of("models", tmp_path)
    forge(bundle / "manifest.json", change)
    with pytest.raises(InputError, match="not the plain name of a file"):
        load_flops(bundle)


def test_folders_of_a_set_stay_inside(tmp_path: Path) -> None:
    def moved(facts: dict[str, Any]) -> None:
        facts["spots"][0]["folder"] = "../elsewhere"

    bundle = put_set(tmp_path / "set", {"turn": {"QsJh2h5c": 0.1}})
    forge(bundle / "manifest.json", moved)
    with pytest.raises(InputError, match=r"spots\[0\].folder is .* not the plain name of a file"):
        load_spots(bundle)


def test_arrays_of_another_shape(tmp_path: Path) -> None:
    """Their checksums are correct, as a forger can make them."""
    bundle = copy_of("preflop", tmp_path)

    def cut(facts: dict[str, Any]) -> None:
        path = bundle / "preflop-00000000.safetensors"
        arrays = {"strategies": np.zeros((3, 169)), "pairs": np.zeros((169, 169))}
        facts["files"]["preflop"] = {"file": path.name, **write_mapped(path, arrays)}

    forge(bundle / "manifest.json", cut)
    with pytest.raises(InputError, match=r"bundle is damaged: strategies is float64 of shape"):
        load(bundle)


def test_a_header_that_does_not_fit(tmp_path: Path) -> None:
    bundle = copy_of("preflop", tmp_path)

    def negative(facts: dict[str, Any]) -> None:
        header = {"pairs": {"dtype": "F64", "shape": [-1, 169], "data_offsets": [0, 1352]}}
        text = json.dumps(header).encode()
        data = len(text).to_bytes(8, "little") + text + bytes(1352)
        (bundle / "x.safetensors").write_bytes(data)
        total = hashlib.sha256(data).hexdigest()
        facts["files"]["preflop"] = {"file": "x.safetensors", "bytes": len(data), "sha256": total}

    forge(bundle / "manifest.json", negative)
    with pytest.raises(
        InputError, match=r"x.safetensors cannot be read: an array has no place in the file"
    ):
        load(bundle)


def test_a_street_of_another_shape(tmp_path: Path) -> None:
    bundle = copy_of("river", tmp_path)

    def cut(facts: dict[str, Any]) -> None:
        path = bundle / "nodes-river-00000000.safetensors"
        arrays = {f"board.combos_{who}": np.arange(3, dtype=np.int16) for who in ("oop", "ip")}
        entry = facts["files"]["nodes-river"]
        entry |= {"file": path.name, **write_mapped(path, arrays)}
        crc = f"{zlib.crc32(path.read_bytes()):08x}"
        entry["blocks"] = {"bytes": 1 << 20, "crc32": crc}

    forge(bundle / "manifest.json", cut)
    with pytest.raises(InputError, match="is damaged: there is no array reach_oop"):
        _ = load_spot(bundle).at("").decision
