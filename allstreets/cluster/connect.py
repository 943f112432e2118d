"""A connection to Ray: the machines of a cluster, and a clean end.

    with connect("auto") as cluster:       # a cluster that runs on this machine's network
    with connect("local") as cluster:      # this machine alone: Ray is started and ended here
    with connect("10.0.0.1:6379") as cluster:

Only this package imports Ray, and only for a connection. Ray gives everything started here an
address that only this machine can reach; its dashboard and its usage reports are off. Anyone who
can reach a Ray cluster can run programs on it (docs/cluster.md).
"""

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allstreets.base import InputError, Place, data_size, figure
from allstreets.version import __version__

LOCAL, AUTO = "local", "auto"
THIS_MACHINE = "127.0.0.1"
OBJECT_BYTES = 100_000_000  # Ray's own store of objects, which carries nothing large
ANSWER_SECONDS = 10.0
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's announced future default
}


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, or a part of one that Ray counts as a machine."""

    key: str  # Ray's name for it
    address: str
    cores: int
    gpus: int
    memory_bytes: int  # that Ray lends out


@dataclass(frozen=True)
class NodeUse:
    """The work of a machine of the cluster: pieces solved, or iterations on its flops."""

    name: str
    solved: int  # pieces; or the flops that it has
    memory_bytes: int  # of its processes
    waiting: float  # part of the time
    per_minute: float | None = None  # pieces; None: it does iterations
    iterations_per_second: float | None = None  # that its own work would allow

    def line(self, noun: str) -> str:
        """The state of a node in words; `noun` names the pieces: "spots"."""
        work = f"{self.solved:,} flops | {figure(self.iterations_per_second)} it/s"
        if self.per_minute is not None:
            work = f"{self.solved:,} {noun} solved | {self.per_minute:.3g} {noun}/min"
        size = data_size(self.memory_bytes)
        return f"{self.name}: {work} | {size} | waiting {self.waiting:.0%}"


@dataclass(frozen=True)
class Cluster:
    """A connection that is open."""

    ray: Any  # the module
    is_local: bool

    def nodes(self) -> tuple[Node, ...]:
        """The machines that are alive, in a fixed order; those without a core are left out."""
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        known = [_node(node["NodeID"], node["NodeManagerAddress"], node) for node in alive]
        return tuple(sorted((node for node in known if node.cores), key=lambda node: node.key))


def _node(key: str, address: str, facts: Any) -> Node:
    lent = facts["Resources"]
    return Node(
        key, address, int(lent.get("CPU", 0)), int(lent.get("GPU", 0)), int(lent.get("memory", 0))
    )


@contextmanager
def connect(where: str) -> Iterator[Cluster]:
    """Open a connection to `auto`, `local` or an address; at the end everything is released.

    An `InputError` if Ray is not installed, or no cluster answers.
    """
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    if where == LOCAL:
        # Ray listens to the network if it thinks that others may join.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = _import_ray()
    if ray.is_initialized():
        # The caller's own connection, which stays open.
        yield Cluster(ray, where == LOCAL)
        return
    with _own_signals():
        _begin(ray, where)
    try:
        yield Cluster(ray, where == LOCAL)
    finally:
        ray.shutdown()


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError(
            "--cluster needs Ray, which is not installed.\n"
            "Install it, on every machine of the cluster: pip install allstreets[cluster]"
        ) from None
    return ray


def _begin(ray: Any, where: str) -> None:
    if where not in (LOCAL, AUTO):
        _require_answer(where)
    logging.getLogger("ray").setLevel(logging.ERROR)  # we report errors ourselves
    _keep_stdout(ray)
    quiet = {"configure_logging": False, "log_to_driver": False, "logging_level": "error"}
    try:
        if where == LOCAL:
            ray.init(
                address=LOCAL,
                include_dashboard=False,
                object_store_memory=OBJECT_BYTES,
                _node_ip_address=THIS_MACHINE,
                **quiet,
            )
        else:
            ray.init(address=where, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        if where == LOCAL:
            raise InputError(f"Ray does not start on this machine: {_first_line(error)}") from None
        raise _no_answer(where, _first_line(error)) from None


def _require_answer(where: str) -> None:
    """Check that a cluster answers: Ray would try for minutes, and then end this process."""
    host, _, port = where.rpartition(":")
    if not (host and port.isdecimal()):
        raise InputError(
            f"--cluster {where} is not an address; write auto, local, or HOST:PORT as `ray start "
            "--head` prints it"
        )
    try:
        socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_answer(where, getattr(error, "strerror", None) or str(error)) from None


def _no_answer(where: str, why: str) -> InputError:
    cluster = "no cluster of Ray" if where == AUTO else f"the cluster at {where}"
    return InputError(
        f"{cluster} {'was found' if where == AUTO else 'does not answer'}: {why}.\n"
        "Start one with `ray start --head` and name its address, or use --cluster local."
    )


def _keep_stdout(ray: Any) -> None:
    """Keep Ray from printing where a program reads our result: we report workers that die."""
    ray._private.worker.print_to_stdstream = lambda *_, **__: None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore signal handlers: Ray replaces them, and a run that is ended would not save."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            with suppress(TypeError):  # a handler that was not installed from Python
                signal.signal(number, handler)


def require_version(version: str) -> str:
    """Refuse to work for a driver of another version; return the name of this machine."""
    host = socket.gethostname()
    if version != __version__:
        raise InputError(
            f"{host} has allstreets {__version__}, and this is {version}; "
            "install the same version on every machine of the cluster"
        )
    return host


NAME = ".cluster"


@dataclass(frozen=True)
class Sign:
    """A file with a random text, which no other process can have written."""

    path: Path
    text: str

    def require(self) -> None:
        """Refuse to work on a machine that does not see the file."""
        try:
            seen = self.path.read_text() == self.text
        except OSError:
            seen = False
        if not seen:
            raise not_shared(self.path.parent, [socket.gethostname()])


@contextmanager
def signed(folder: Path) -> Iterator[Sign]:
    """A sign in `folder`, while work continues there."""
    sign = Sign(folder.resolve() / NAME, secrets.token_hex(16))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sign.path.write_text(sign.text)
    except OSError as error:
        raise InputError(
            f"cannot write to the folder {folder}: {error.strerror}; name another folder"
        ) from None
    try:
        yield sign
    finally:
        sign.path.unlink(missing_ok=True)


def not_shared(folder: Place, machines: Sequence[str]) -> InputError:
    """The error for machines that do not see a folder."""
    return InputError(
        f"{folder} is not there on {', '.join(machines)}.\n"
        "Workers write their own files: name a folder that all machines of the cluster see."
    )
