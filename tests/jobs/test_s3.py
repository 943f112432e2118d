"""A run whose files are in an object store: a real server of S3, spoken to over HTTP.

Needs moto and s3fs, which are not among the packages of allstreets; skipped without them.
Long: a server over HTTP; `storage/test_mirror` has the same ways with a store in memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders.small_games import kept_numbers, small_config
from builders.worker_pools import PoolHere

from allstreets.base import InputError, Remote
from allstreets.cli.main import main
from allstreets.cluster import ClusterEngine, WorkerLost, engine
from allstreets.jobs.cluster_training import train_through_losses
from allstreets.jobs.job import NO_CALLBACKS
from allstreets.jobs.loop import CHECKPOINTS
from allstreets.jobs.whole_game import UnifiedOutcome, plan_unified
from allstreets.storage import load_unified, mirrored

pytestmark = pytest.mark.long
KEYS: dict[str, Any] = {"flops": "spread_3"}


@pytest.fixture(scope="module")
def store() -> Iterator[Remote]:
    """A bucket."""
    pytest.importorskip("s3fs", reason="the filesystem s3:// is not installed")
    server_module: Any = pytest.importorskip("moto.server", reason="no S3 server to test with")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name, value in (
            ("AWS_ACCESS_KEY_ID", "somebody"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            patch.setenv(name, value)
        import s3fs

        s3fs.S3FileSystem().mkdir("bucket")
        yield Remote("s3://bucket/run")
        server.stop()


def run(place: Remote, pool: PoolHere, *, resume: bool = False, **keys: Any) -> UnifiedOutcome:
    job = plan_unified(small_config(**KEYS, **keys), place)
    games = ClusterEngine(job.spec(), pool, threads=1)
    return train_through_losses(
        games,
        place / CHECKPOINTS,
        lambda resume, spent: job._train(
            job.solver(games), NO_CALLBACKS, resume=resume, spent=spent
        ),
        resume=resume,
        callbacks=NO_CALLBACKS,
    )


def test_a_run_in_an_object_store(
    store: Remote,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("allstreets.storage.mirror.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(engine, "MEASURED", 1_000_000)
    lost = WorkerLost([0], "")
    whole = plan_unified(small_config(**KEYS), tmp_path / "here").run()
    # A worker is lost after the first checkpoint; the run ends early, and another one resumes.
    run(store, PoolHere(2, lambda answers: lost if answers == 60 else None), epochs=8)
    assert [path.name for path in (store / CHECKPOINTS).iterdir()] == [
        "checkpoint-000000000004",
        "checkpoint-000000000008",
    ]
    outcome = run(store, PoolHere(3), resume=True)
    assert outcome.unsaved is None
    result = load_unified(store)
    assert result.exploitability == whole.figures.exploitability
    folder = mirrored(store)
    line = result.flop_lines()[0]
    for flop in result.game.flops.flops:
        _ = result.at(f"{line} | {flop.text}").decision
    assert kept_numbers(folder) == kept_numbers(tmp_path / "here")
    assert main(["report", str(store)]) == 0
    assert "mbb/hand" in capsys.readouterr().out
    # Two checkpoints, one solution, and nothing that is unfinished.
    names = {path.name.partition("-")[0] for path in store.iterdir()}
    assert names == {"checkpoints", "flops", "manifest.json", "metrics.jsonl", "preflop"}
    assert len(list(store.iterdir())) == 5


def test_buckets_that_are_not_there(store: Remote) -> None:
    del store
    place = Remote("s3://no-such-bucket/run")
    with pytest.raises(InputError, match=r"cannot write to s3://no-.*exist.*\nThe bucket must"):
        plan_unified(small_config(cluster="local"), place).require()
    with pytest.raises(InputError, match="s3://no-such-bucket/run contains no solution"):
        load_unified(place)
