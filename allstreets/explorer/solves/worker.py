"""A process that solves, trains or reviews: python -m allstreets.explorer.solves.worker FOLDER.

It resumes from the folder's bundle if there is one, saves as it runs, and ends when the target is
reached, when the time is up, or when the server says so or is gone. The server keeps its own memory
and processor time: a spot that is too large for the machine ends this process, not the server.
"""

import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from allstreets.base import InputError
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.jobs import kind_of
from allstreets.explorer.solves.process import Channel, Commands, Ending, Report, Reporter
from allstreets.storage import claim

CLAIM_SECONDS = 60.0  # to wait for an earlier process that is about to end
NICENESS = 5  # keeps the page quick while every core solves
FIRST_TO_GO = "800"  # of 1,000, when the machine runs out of memory


def main(arguments: list[str]) -> int:
    """Solve the spot of a folder; returns the exit code."""
    folder = SolveFolder.open(Path(arguments[0]))
    request = folder.request()
    if request is None:
        sys.stderr.write(f"{folder.path} is not the folder of a solve\n")
        return 2
    commands, channel = Commands(), Channel.take_stdout()
    commands.listen(0)
    _step_back()
    reporter = Reporter(folder, request, channel)
    try:
        with _claimed(folder, commands, request):
            ending = attempt(folder, request, commands, reporter)
            reporter.end(ending)  # reported before another process may write here
    except InputError as error:
        channel.send(Report(state="failed", note="", error=str(error)))
        return 1
    return 0 if ending.state != "failed" else 1


@contextmanager
def _claimed(folder: SolveFolder, commands: Commands, request: Request) -> Iterator[None]:
    """The bundle's folder as its only writer; an earlier process may still be saving."""
    patience = time.monotonic() + CLAIM_SECONDS
    while folder.in_use() and not commands.wants_to_stop() and time.monotonic() < patience:
        time.sleep(0.1)
    with nullcontext() if kind_of(request).claims else claim(folder.solution):
        yield


def attempt(
    folder: SolveFolder, request: Request, commands: Commands, reporter: Reporter
) -> Ending:
    """Solve; errors are endings, too."""
    try:
        return kind_of(request).run(folder, request, commands, reporter)
    except KeyboardInterrupt:  # of the training loop, which had nothing to save yet
        ending = commands.ending or "interrupted"
        return Ending(ending, f"{ending} before the first iteration")
    except InputError as error:
        return Ending("failed", error=str(error))
    except MemoryError:
        return Ending("failed", error="the machine has not enough memory for it")
    except Exception as error:
        traceback.print_exc()
        return Ending("failed", error=f"an internal error: {type(error).__name__}: {error}")


def _step_back() -> None:
    """Let others go first, to the processors and when memory runs out."""
    with suppress(OSError, AttributeError):  # Windows has neither
        os.nice(NICENESS)
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # everything is written: shutting down the compiler in order takes a while
