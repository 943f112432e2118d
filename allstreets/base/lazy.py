"""Public names of a layer, imported when they are first used.

A layer's `__init__.pyi` lists its public names and where they are defined, for readers and type
checkers. Its `__init__.py` reads that list, and imports nothing: so `allstreets --help` need not
wait for the compiler, whatever the layers can do, and every import can stand at the top of a file.
Where a name is that of a module as well (`cards.equity`), the name wins.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

Names = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def lazy_names(package: str, file: str) -> Names:
    """`__getattr__`, `__dir__` and `__all__` of a package, by the stub that lies beside `file`."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: f"{package}.{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not alias.name.startswith("_")
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(homes[name]), name)

    class Layer(ModuleType):
        """A package on which imported modules do not hide names."""

        def __setattr__(self, name: str, value: Any) -> None:
            if isinstance(value, ModuleType) and value.__name__ == homes.get(name):
                value = getattr(value, name)
            super().__setattr__(name, value)

    sys.modules[package].__class__ = Layer
    names = sorted(homes)
    return find, lambda: names, names
