"""Jobs on a GPU: the messages if there is none, or if a job cannot run there."""

from pathlib import Path
from typing import Any

import pytest
from builders.host_device import HostDevice

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.engines import device as devices
from allstreets.engines.device import DeviceUse, open_device
from allstreets.games import device_bytes, require_device_room
from allstreets.jobs.api import plan
from allstreets.jobs.config.train import read_train_config
from allstreets.jobs.job import Progress
from allstreets.jobs.terminal import progress_line, progress_table

SMOKE = Path(__file__).parents[2] / "sample_configurations" / "smoke.yaml"


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without CuPy."""
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)


def test_names_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "game.yaml"
    file.write_text("solver: {type: unified_cfr, device: gpu}")
    with pytest.raises(InputError, match="there is no device 'gpu': cpu is the processor") as found:
        read_train_config(file)
    assert "pattern" not in str(found.value)


def test_names() -> None:
    assert open_device("cpu") is None
    for name in ("gpu", "cuda:", "cuda:x", "CUDA", ""):
        with pytest.raises(InputError, match="cpu is the processor, cuda the first GPU"):
            open_device(name)


def test_what_is_missing_is_told_in_two_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "game"
    assert main(["train", str(SMOKE), "--output", str(output), "--device", "cuda"]) == 2
    assert "pip install 'allstreets[gpu]'" in capsys.readouterr().err
    assert not output.exists()
    assert main(["devices"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("cpu")
    assert "No GPU: device: cuda needs CuPy" in shown


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "gpu_count", lambda: 1)
    with pytest.raises(InputError, match="no GPU number 3 here: there are 1"):
        open_device("cuda:3")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("memory", "memmap"),
        ("prune_warmup", 30),
    ],
)
def test_what_only_processors_do(tmp_path: Path, key: str, value: Any) -> None:
    file = tmp_path / "game.yaml"
    file.write_text(f"solver:\n  type: unified_cfr\n  cards: classes\n  {key}: {value}\n")
    assert read_train_config(file).solver is not None
    with pytest.raises(InputError, match=rf"{key}: is not for a GPU"):
        read_train_config(file, {"device": "cuda"})


def test_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allstreets.games.estimates.open_device", lambda _: HostDevice())
    require_device_room("cuda", device_bytes(100_000_000))
    assert device_bytes(100_000_000, "suits") == 1_400_000_000  # rows have all hands
    with pytest.raises(InputError, match=r"needs 12\.5 GB on processor, of which 4\.3 GB are free"):
        require_device_room("cuda", device_bytes(10_000_000_000))


def test_tree_says_whether_it_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    free = 1 << 32

    def opened(_: str) -> HostDevice:
        return HostDevice(free_bytes=free)

    monkeypatch.setattr("allstreets.jobs.whole_game.open_device", opened)
    file = tmp_path / "game.yaml"
    text = "solver: {type: unified_cfr, cards: classes, device: cuda, flops: "
    file.write_text(f"{text}subset_15}}")
    assert main(["tree", str(file)]) == 0
    assert "of 4.29 GB that are free, so it fits." in capsys.readouterr().out
    file.write_text(f"{text}all, postflop_bet_sizes: [0.5, 1.0]}}")
    free = 8_000_000_000
    assert main(["tree", str(file)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "GB that are free: " in told
    assert "flops stay there, and it streams " in told
    assert " per iteration over PCIe: about 0." in told
    free = 2_000_000_000
    assert main(["tree", str(file)]) == 0
    assert "so it does not fit: fewer flops" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"GB on processor, of which 2\.0 GB are free"):
        plan(read_train_config(file), None)[0].run()
    file.write_text(f"{text.replace('classes', 'exact')}all}}")
    free = 1 << 32
    assert main(["tree", str(file)]) == 0
    assert "so it does not fit: fewer flops" in capsys.readouterr().out


def test_progress_tells_what_a_run_makes_of_it() -> None:
    use = DeviceUse("NVIDIA H200", 9_800_000_000, 4.8e12, 24_000_000_000)
    progress = Progress(
        done=10,
        total=100,
        seconds=1.0,
        iterations_per_second=50.0,
        eta_seconds=2.0,
        process_bytes=2000,
        unit="mbb/hand",
        device=use,
    )
    assert progress_line(progress).endswith("NVIDIA H200 9.8 GB, 1.2 TB/s (25% of its peak)")
    assert progress_table(progress, 200) is not None
