"""CUDA sources, the structures that kernels read, and arrays on a device.

A kernel takes one pointer, to a structure of 64-bit words: numbers and addresses. C++ declares the
structure beside the kernels that read it; Python reads the names of its fields there and fills it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, Ints, Longs
from allstreets.betting import BettingTree
from allstreets.engines.device import Buffer, Device

INCLUDE = re.compile(r'^#include "(\w+\.cuh)"\n', re.MULTILINE)
STRUCTURE = re.compile(r"^struct (\w+)(?: : (\w+))? \{(.*?)^\};", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"(\w+)[,;]")
MOST_ACTIONS = 12  # of a decision: MOST_ACTIONS of the kernels
SUM_BYTES = 12  # of shared memory for each thread that adds up regrets
WORD = 16  # bytes: every wide read begins at a multiple of them

Array = NDArray[Any]
Arrays = dict[str, Array]
Launch = tuple[str, int, int, int, int]
"""A kernel, its blocks, threads and bytes of shared memory, and the address of its structure."""


@cache
def source(file: str) -> str:
    """A CUDA source with its includes in their places."""
    text = (Path(__file__).parent / file).read_text("utf-8")
    return INCLUDE.sub(lambda include: source(include[1]), text)


@cache
def fields(file: str, structure: str) -> tuple[str, ...]:
    """The fields of a structure, those of the one that it extends first.

    >>> fields("matrix_classes.cu", "Matrix")[:2]
    ('pots', 'part')
    """
    declared = {name: (base, body) for name, base, body in STRUCTURE.findall(source(file))}
    base, body = declared[structure]
    own = FIELD.findall(re.sub("//.*", "", body))
    return (*(fields(file, base) if base else ()), *own)


def packed(file: str, structure: str, given: Mapping[str, int]) -> Longs:
    """A structure as words; a field that is not given is 0."""
    names = fields(file, structure)
    if unknown := given.keys() - set(names):
        raise ValueError(f"{structure} of {file} has no fields {', '.join(sorted(unknown))}")
    return np.array([given.get(name, 0) % 2**64 for name in names], np.uint64).view(np.int64)


def ints(array: Any) -> Ints:
    """Integers of the type that the kernels count in."""
    return np.ascontiguousarray(array, np.int32)


def refuse_long_decisions(trees: Iterable[BettingTree]) -> None:
    """Refuse decisions with more actions than a thread has registers for."""
    if any(int(tree.child_count.max(initial=0)) > MOST_ACTIONS for tree in trees):
        raise InputError(f"a GPU takes decisions with at most {MOST_ACTIONS} actions")


@dataclass
class Buffers:
    """Arrays on a device, by name: their addresses, and what keeps them alive."""

    device: Device
    kept: dict[str, Buffer] = field(default_factory=dict)

    def address(self, name: str, array: Array | None = None) -> int:
        """The address of an array, which is put there if it is not there yet."""
        if name not in self.kept:
            assert array is not None
            self.kept[name] = self.device.put(np.ascontiguousarray(array))
        return self.device.address(self.kept[name])

    def addresses(self, key: str, given: Mapping[str, int | Array]) -> dict[str, int]:
        """Fields of a structure: numbers as they are, arrays under their names with the `key`."""
        return {
            name: self.address(f"{name}.{key}", value) if isinstance(value, np.ndarray) else value
            for name, value in given.items()
        }

    def zeros(self, name: str, size: int, dtype: Any = np.float32) -> int:
        """The address of a new array of zeros, which has at least one number."""
        self.kept[name] = self.device.zeros(max(int(size), 1), dtype)
        return self.device.address(self.kept[name])

    def write(self, name: str, array: Array) -> None:
        """Copy into the first numbers of an array."""
        self.device.write(self.kept[name][: array.size], array.reshape(-1))

    def read(self, name: str, array: Array) -> Array:
        """Copy the first numbers of an array from there."""
        self.device.read(self.kept[name][: array.size], array.reshape(-1))
        return array


class Recordings:
    """Launches that are recorded the first time, by name, and from then on launched as a whole."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._known: dict[int, tuple[Any, Callable[[], None]]] = {}

    def run(self, name: int, what: Any, work: Callable[[], None]) -> None:
        """Launch `work`; it is recorded again when `what` it depends on has changed."""
        if name in self._known and self._known[name][0] == what:
            self._known[name][1]()
            return
        work()  # loads what a recording may not
        self._known[name] = what, self._device.recorded(work)


class Parcel:
    """Small arrays that are sent to a device together: one copy takes as long as another."""

    def __init__(self, device: Device, fields: Mapping[str, tuple[int, Any]]) -> None:
        self._device, self._places = device, dict[str, tuple[int, int]]()
        size = 0
        for name, (count, kind) in fields.items():
            width = count * np.dtype(kind).itemsize
            self._places[name] = size, size + width
            size += -(-width // WORD) * WORD
        self._bytes = np.zeros(max(size, WORD), np.uint8)
        self._there = device.zeros(len(self._bytes), np.uint8)
        self.here: Arrays = {
            name: self._bytes[slice(*self._places[name])].view(kind)
            for name, (_, kind) in fields.items()
        }

    def address(self, name: str) -> int:
        """The address that an array will have."""
        return self._device.address(self._there) + self._places[name][0]

    def send(self) -> None:
        """Send them to the device as they are `here`."""
        self._device.write(self._there, self._bytes)
