"""The table of all flops: kept in parts, believed only when checked, never in the way."""

import multiprocessing
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.cards import (
    FLOP_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    FlopTable,
    all_flops,
    build_flop_table,
    flop_matchups,
    flop_table,
    hand_pairs,
    parse_board,
    preflop_matchups,
)
from allstreets.cards import flop_tables as tables
from allstreets.cards.flop_tables import FLOPS_PER_PART, PART_BYTES, PART_COUNT, count_margins
from allstreets.cards.hands import disjoint_combos


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The flops that have been counted and not read."""
    flops: list[tuple[int, ...]] = []

    def count(flop: tuple[int, ...]) -> tables.Margins:
        flops.append(flop)
        return count_margins(flop)

    monkeypatch.setattr(tables, "count_margins", count)
    return flops


def part_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("flop-margins-v*/part-*.bin"))


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("*.tmp"))


def flop_cards(number: int) -> tuple[int, ...]:
    return all_flops()[number].cards


def test_the_parts_hold_all_flops() -> None:
    assert PART_COUNT * FLOPS_PER_PART == FLOP_COUNT


def test_a_few_flops_cost_a_few_flops(folder: Path, counted: list[tuple[int, ...]]) -> None:
    table = flop_table()
    for _ in range(2):
        for number in (3, 700, 1754):
            assert np.array_equal(table.margins(number), count_margins(flop_cards(number)))
    assert counted == [flop_cards(3), flop_cards(700), flop_cards(1754)]
    assert not part_files(folder)
    assert flop_table() is table


def test_a_flop_by_number_and_by_cards(folder: Path) -> None:
    assert folder.exists()
    board = parse_board("2d AhKh")
    by_cards = flop_matchups(board)
    (flop,) = (flop for flop in all_flops() if flop.text == "AsKs2h")
    for found in (by_cards, flop_matchups(flop.number), flop_matchups(np.int64(flop.number))):
        assert np.array_equal(found.margins, count_margins(board))
        assert np.array_equal(found.pairs, hand_pairs(board))
        assert found.runouts == 990
    assert np.array_equal(flop_table().margin(flop.number), by_cards.margin)


@pytest.mark.parametrize("number", [-1, 1755])
def test_a_flop_that_does_not_exist(number: int) -> None:
    with pytest.raises(InputError, match=r"there is no flop .*: flops are numbered 0..1754"):
        flop_matchups(number)
    with pytest.raises(InputError, match="3 different cards"):
        flop_matchups(parse_board("AhKd2c3c"))


def test_what_is_built_is_read(folder: Path, counted: list[tuple[int, ...]]) -> None:
    progress: list[tuple[int, int]] = []
    FlopTable(folder).build(2, lambda done, total: progress.append((done, total)), parts=[0, 1])
    assert progress == [(27, 54), (54, 54)]
    assert [path.stat().st_size for path in part_files(folder)] == [PART_BYTES] * 2
    assert len(counted) == 54
    counted.clear()
    table = FlopTable(folder)
    for number in (0, 26, 27, 53):
        margins = table.margins(number)
        assert type(margins) is np.ndarray
        assert not margins.flags.writeable
        assert np.array_equal(margins, count_margins(flop_cards(number)))
    table.build(2, parts=[0, 1])
    assert counted == []


def test_building_uses_flops_that_were_counted_before(
    folder: Path, counted: list[tuple[int, ...]]
) -> None:
    table = FlopTable(folder)
    table.margins(5)
    table.build(1, parts=[0])
    assert len(counted) == FLOPS_PER_PART


def test_an_interrupted_build_goes_on_where_it_stopped(
    folder: Path, counted: list[tuple[int, ...]]
) -> None:
    def interrupt(done: int, total: int) -> None:
        assert (done, total) == (27, FLOP_COUNT)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_flop_table(1, interrupt)
    kept = len(part_files(folder))
    assert 1 <= kept < PART_COUNT  # the one that was reported, and what was at work by then
    assert not leftovers(folder)
    assert len(counted) == kept * FLOPS_PER_PART
    counted.clear()
    flop_table().build(1, parts=range(kept + 1))
    assert counted == [flop_cards(kept * FLOPS_PER_PART + place) for place in range(FLOPS_PER_PART)]


BUILD = """
import os, signal, sys
from pathlib import Path
from allstreets.cards import FlopTable
def kill(done, total):
    if done >= 54:
        os.kill(os.getpid(), signal.SIGKILL)
FlopTable(Path(sys.argv[1])).build(2, kill)
"""


@pytest.mark.long
def test_a_build_that_is_killed_leaves_whole_parts(
    tmp_path: Path, counted: list[tuple[int, ...]]
) -> None:
    """Long: processes are killed."""
    folder = tmp_path  # and compiled kernels from the usual place
    done = subprocess.run([sys.executable, "-c", BUILD, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert 2 <= len(part_files(folder)) < PART_COUNT
    parts = [int(path.stem.split("-")[1]) for path in part_files(folder)]
    table = FlopTable(folder)
    for part in parts:
        for number in range(part * FLOPS_PER_PART, (part + 1) * FLOPS_PER_PART):
            table.margins(number)
    assert counted == []  # every record passed its checksum
    number = parts[-1] * FLOPS_PER_PART
    assert np.array_equal(table.margins(number), count_margins(flop_cards(number)))


def build_parts(folder: Path) -> None:
    FlopTable(folder).build(1, parts=[0, 1])


@pytest.mark.thorough
def test_two_builders_at_once_write_the_same_bytes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    builders = [context.Process(target=build_parts, args=(tmp_path / "both",)) for _ in range(2)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
        assert builder.exitcode == 0
    build_parts(tmp_path / "alone")
    both, alone = part_files(tmp_path / "both"), part_files(tmp_path / "alone")
    assert [path.read_bytes() for path in both] == [path.read_bytes() for path in alone]
    assert len(both) == 2
    assert not leftovers(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first part; tests may not change it."""
    folder = tmp_path_factory.mktemp("built")
    FlopTable(folder).build(2, parts=[0])
    return folder


@pytest.mark.parametrize(
    "damage", ["flip", "checksum", "cut", "longer", "empty", "moved", "folder"]
)
def test_damage_is_noticed_and_mended(
    built: Path, folder: Path, counted: list[tuple[int, ...]], damage: str
) -> None:
    shutil.copytree(built, folder, dirs_exist_ok=True)
    (path,) = part_files(folder)
    content = path.read_bytes()
    record = PART_BYTES // FLOPS_PER_PART
    spoiled = bytearray(content)
    if damage == "flip":
        spoiled[2 * record + 7] ^= 1  # of flop 2
    elif damage == "checksum":
        spoiled[3 * record - 1] ^= 1  # of flop 2
    elif damage == "cut":
        del spoiled[-1]
    elif damage == "longer":
        spoiled.append(0)
    elif damage == "empty":
        spoiled.clear()
    elif damage == "moved":  # whole records, each in another's place
        spoiled = spoiled[record:] + spoiled[:record]
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(spoiled)
    counted.clear()

    table = FlopTable(folder)
    for number in (1, 2):
        assert np.array_equal(table.margins(number), count_margins(flop_cards(number)))
    alone = [flop_cards(2)]
    assert counted == (alone if damage in ("flip", "checksum") else [flop_cards(1), *alone])
    if damage == "folder":
        path.rmdir()
    FlopTable(folder).build(2, parts=[0])
    assert path.read_bytes() == content
    counted.clear()
    assert FlopTable(folder).margins(2)[0, 1] == table.margins(2)[0, 1]
    assert counted == []


def test_a_damaged_part_is_mended_by_the_process_that_has_it_open(folder: Path) -> None:
    table = FlopTable(folder)
    table.build(2, parts=[0])
    (path,) = part_files(folder)
    content = path.read_bytes()
    table.margins(0)  # a view of the file, checked and in use when the file is spoiled
    with path.open("r+b") as file:
        for number in (0, 5):
            file.seek(number * PART_BYTES // FLOPS_PER_PART)
            file.write(b"\x01\x02\x03\x04")
    table.build(2, parts=[0])
    assert path.read_bytes() == content
    for number in (0, 5):
        assert np.array_equal(table.margins(number), count_margins(flop_cards(number)))


def test_a_folder_that_cannot_be_written(tmp_path: Path, counted: list[tuple[int, ...]]) -> None:
    (tmp_path / "file").write_text("")
    table = FlopTable(tmp_path / "file" / "cache")
    assert np.array_equal(table.margins(5), count_margins(flop_cards(5)))
    table.build(2, parts=[0])
    assert len(counted) == FLOPS_PER_PART
    assert np.array_equal(table.margins(6), count_margins(flop_cards(6)))
    assert not table.margins(6).flags.writeable
    table.build(2, parts=[0])
    assert len(counted) == FLOPS_PER_PART  # kept in memory


def test_a_part_that_may_not_be_read(
    folder: Path, counted: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    FlopTable(folder).build(2, parts=[0])
    counted.clear()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(np, "memmap", refuse)
    assert np.array_equal(FlopTable(folder).margins(5), count_margins(flop_cards(5)))
    assert counted == [flop_cards(5)]


@pytest.mark.long
def test_all_flops_together_are_the_game_before_the_flop() -> None:
    """A board of five cards holds ten flops: Σ multiplicity · M = 10 · (wins − losses) preflop.

    Long: the margins of all flops are counted, once on a machine.
    """
    table = build_flop_table()  # kept in the cache folder
    total = np.zeros((HAND_COUNT, HAND_COUNT), np.int64)
    for flop in all_flops():
        total += flop.multiplicity * table.margins(flop.number).astype(np.int64)
    wins = preflop_matchups().wins.astype(np.int64)
    margins = np.where(disjoint_combos(), wins - wins.T, 0)
    members = (HAND_OF_COMBO[:, None] == np.arange(HAND_COUNT)).astype(np.int64)
    assert np.array_equal(total, 10 * members.T @ (margins @ members))
