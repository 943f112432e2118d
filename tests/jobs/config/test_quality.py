"""Keys that a training file leaves open, with real boards, follow from the machine."""

import json
import math
from typing import Any

import pytest

from allstreets.base import InputError, machine_bytes
from allstreets.games import estimate_whole_game
from allstreets.jobs import TrainConfig, check_config
from allstreets.jobs.config import quality
from allstreets.jobs.config.quality import ITERATIONS, LADDER, QUALITIES, SHARE, Quality
from allstreets.jobs.config.whole_game import UnifiedConfig

GB = 1_000_000_000
ONE_SIZE: dict[str, Any] = {"raise_cap": 1, "postflop_bet_sizes": [1.0]}


def config(**keys: Any) -> UnifiedConfig:
    checked = check_config({"solver": {"type": "unified_cfr", **keys}}, TrainConfig).solver
    assert isinstance(checked, UnifiedConfig)
    return checked


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    def of(size: float | None) -> None:
        monkeypatch.setattr(quality, "machine_bytes", lambda: size)

    of(64 * GB)
    return of


def size_of(config: UnifiedConfig) -> tuple[int, int]:
    assert isinstance(config.river_groups, int)
    return len(config.flop_set().flops), config.river_groups


def slowly(total: float, wanted: Quality, **keys: Any) -> tuple[int, int]:
    """The largest size of the ladder that fits, by trying them all as files of their own."""
    most = quality.LARGEST[wanted]
    fitting = [LADDER[0]]
    for flops, buckets in LADDER:
        explicit = config(flops=f"subset_{flops}", river_groups=buckets, **keys)
        need = estimate_whole_game(explicit.game(), explicit.card_model())
        if flops <= most[0] and buckets <= most[1] and need.resident_bytes <= SHARE * total:
            fitting.append((flops, buckets))
    return fitting[-1]


@pytest.mark.parametrize("wanted", QUALITIES)
def test_the_largest_size_that_fits(machine: Any, wanted: Quality) -> None:
    sizes = []
    for total in (1 * GB, 6 * GB, 24 * GB, 400 * GB):
        machine(total)
        chosen = config(quality=wanted, **ONE_SIZE)
        assert chosen.cards == "boards"
        assert size_of(chosen) == slowly(total, wanted, **ONE_SIZE)
        assert chosen.epochs == ITERATIONS[wanted]
        sizes.append(size_of(chosen))
    assert sizes == sorted(sizes)
    assert sizes[0] == LADDER[0]
    assert sizes[-1] == quality.LARGEST[wanted]


def test_a_minimal_file_is_good(machine: Any) -> None:
    assert config() == config(quality="good").model_copy(update={"quality": None})
    machine(None)  # unknown
    assert size_of(config()) == quality.LARGEST["good"]


def test_what_a_file_names_stays(machine: Any) -> None:
    assert size_of(config(flops="subset_25", **ONE_SIZE)) == (25, 48)
    assert size_of(config(river_groups=64, **ONE_SIZE)) == (49, 64)
    assert size_of(config(flops=["AhKd7s"], river_groups=16)) == (1, 16)
    assert config(epochs=7).epochs == 7
    machine(3 * GB)
    assert config(flops="subset_95", **ONE_SIZE).river_groups == 16  # too large, and said later


def test_what_is_stored_is_the_same_game_on_any_machine(machine: Any) -> None:
    chosen = config(quality="best", **ONE_SIZE)
    stored = chosen.model_dump(mode="json", by_alias=True, exclude_none=True)
    machine(4 * GB)
    assert config(**{**json.loads(json.dumps(stored)), "type": "unified_cfr"}) == chosen


@pytest.mark.usefixtures("machine")
def test_hand_classes_are_as_they_were() -> None:
    classes = config(cards="classes")
    assert (classes.flops, classes.epochs, classes.river_groups) == ("all", 200, None)
    assert (classes.drop_unplayed_every, classes.memory) == (0, "resident")
    assert config(cards="classes", memory="memmap", flops=20).memory == "memmap"
    with pytest.raises(InputError, match="quality: is for cards boards"):
        config(cards="classes", quality="good")
    with pytest.raises(InputError, match="or write cards: classes"):
        config(memory="memmap")  # an old file says what it means


@pytest.mark.usefixtures("machine")
def test_a_game_without_a_flop_needs_no_boards() -> None:
    push = config(limp=False, raise_sizes=[], stack_depth=10)
    assert (push.cards, push.flops, push.epochs) == ("classes", "all", 200)


def test_a_cluster_is_not_this_machine(machine: Any) -> None:
    machine(1 * GB)
    assert size_of(config(cluster="auto", quality="best", **ONE_SIZE)) == (352, 64)


def test_the_memory_of_this_machine() -> None:
    total = machine_bytes()
    assert total is None or 100_000_000 < total < math.inf
