"""What a spot can be solved on: the processors of this machine, and its GPUs.

Whether there are GPUs is found out once, without taking anything of their memory: the processes
that solve open them.
"""

from functools import cache

from allstreets.base import InputError, processors
from allstreets.engines import CPU, gpu_names
from allstreets.explorer.models.solves import DeviceChoice


@cache
def device_choices() -> tuple[DeviceChoice, ...]:
    """All of them, the processors first."""
    try:
        gpus = gpu_names()
    except InputError:  # no GPU, no driver, or not the extra
        gpus = []
    found = [(CPU, f"{processors()} processors"), *zip(_names(len(gpus)), gpus, strict=True)]
    return tuple(DeviceChoice(device=device, name=name) for device, name in found)


def _names(count: int) -> list[str]:
    return ["cuda" if number == 0 else f"cuda:{number}" for number in range(count)]


def require_device(device: str, precision: str, river_groups: str) -> None:
    """Refuse a device that is not there, or that cannot store strategies in such a way."""
    known = [one.device for one in device_choices()]
    if device not in known:
        raise InputError(f"there is no {device} on this machine: choose {' or '.join(known)}")
    if device != CPU and (precision == "int16" or river_groups != "none"):
        raise InputError(
            "a GPU stores floats, and every hand's own strategy on the river: choose these, or cpu"
        )
