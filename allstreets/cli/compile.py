"""allstreets compile: kernels of the jobs to come, before they are needed."""

from typing import Annotated, Literal

import typer

Jobs = Literal["first-run", "spots", "all"]


def compile_kernels(
    jobs: Annotated[Jobs, typer.Argument(help="The jobs to come.")] = "all",
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many compile side by side; default: every core.")
    ] = None,
) -> None:
    """Compile the kernels of jobs to come, for a new machine or an image of one.

    \b
    Examples:
      allstreets compile
      allstreets compile spots

    Without it every job compiles what it needs when it first needs it. What is compiled is kept in
    the cache folder (ALLSTREETS_CACHE sets another) and not compiled again.
    """
    from allstreets.jobs import compile_ahead

    compile_ahead([jobs], processes)
