"""allstreets devices, compile: the processors and GPUs of this machine, and kernels for them."""

from typing import Annotated, Literal

import typer

from allstreets.cli.terminal.output import JsonOption, console, print_json


def devices(json: JsonOption = False) -> None:
    """List the processors and GPUs of this machine, with their names for --device.

    \b
    Examples:
      allstreets devices
      allstreets solve sample_spots/flop.yaml --device cuda
      allstreets train sample_configurations/unified_20bb.yaml --output solved/ --device cuda
    """
    from allstreets.base import InputError, available_bytes, data_size, processors
    from allstreets.engines import CPU, gpu_count, open_device

    rows = [{"device": CPU, "name": f"{processors()} processors", "free_bytes": available_bytes()}]
    missing = None
    try:
        names = [f"cuda:{number}" for number in range(gpu_count())]
        opened = [(name, open_device(name)) for name in names]
        rows += [
            {"device": name, "name": each.name, "free_bytes": each.free_bytes}
            for name, each in opened
            if each is not None
        ]
    except InputError as error:
        missing = str(error)
    if json:
        print_json({"devices": rows, "no_gpu": missing})
        return
    out = console()
    for each in rows:
        free = each["free_bytes"]
        memory = f", {data_size(int(free))} of memory free" if free else ""
        out.print(f"{each['device']:<7} {each['name']}{memory}")
    if missing:
        out.print(f"No GPU: {missing}", soft_wrap=True)


Jobs = Literal["first-run", "spots", "all"]


def compile_kernels(
    jobs: Annotated[Jobs, typer.Argument(metavar="JOBS", help="The jobs to compile for.")] = "all",
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes that compile.  [default: every core]")
    ] = None,
) -> None:
    """Compile kernels ahead of time, on a new machine or for a machine image.

    \b
    Examples:
      allstreets compile
      allstreets compile spots

    Otherwise every job compiles kernels when it first needs them. They are kept in the cache folder
    (ALLSTREETS_CACHE names another).
    """
    from allstreets.jobs import compile_ahead

    compile_ahead([jobs], processes)
