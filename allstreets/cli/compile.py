"""allstreets compile: kernels of the jobs to come, before they are needed."""

from typing import Annotated, Literal

import typer

Jobs = Literal["first-run", "spots", "all"]


def compile_kernels(
    jobs: Annotated[Jobs, typer.Argument(help="The jobs to compile for.")] = "all",
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes that compile; default: every core.")
    ] = None,
) -> None:
    """Compile kernels ahead of time, on a new machine or for an image of one.

    \b
    Examples:
      allstreets compile
      allstreets compile spots

    Otherwise every job compiles the kernels that it needs when it first needs them. Compiled
    kernels are kept in the cache folder (ALLSTREETS_CACHE names another).
    """
    from allstreets.jobs import compile_ahead

    compile_ahead([jobs], processes)
