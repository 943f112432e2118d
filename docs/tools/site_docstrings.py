"""The reference of public names: which they are, and their docstrings, written for `help()`."""

import ast
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from griffe import Alias, AliasResolutionError, Attribute, Docstring, Extension, Module, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
AS_IT_IS = re.compile(r"(```.*?```|`[^`]*`|^    .*$)|\[", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"  # (.+)$")


class ForReaders(Extension):
    """Examples become code, shapes such as [A, H] no links, comments of fields their text.

    Public names of a layer are those of its stub, which `__all__` is made of when it is imported.
    """

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Griffe calls this when the package is read, its stubs included."""
        hiding = []
        for layer in (pkg, *pkg.modules.values()):
            if not isinstance(layer.filepath, Path):
                continue
            stub = layer.filepath.with_suffix(".pyi")
            layer.exports = _public_names(stub) if stub.exists() else layer.exports
            for name in layer.exports or ():
                member = layer.members[str(name)]
                if isinstance(member, Alias):
                    with suppress(AliasResolutionError):  # one of several names in an assignment
                        member.resolve_target()
                else:
                    hiding.append(member)
        for module in hiding:  # such as cards.equity: the name wins, as it does in Python
            self._read(module)
            alias = Alias(module.name, module.members[module.name], parent=module.parent)
            module.parent.set_member(module.name, alias)

    def _read(self, parent: Object) -> None:
        """Everything inside a module that is no member of its layer any more."""
        for member in parent.members.values():
            if not isinstance(member, Alias):
                self.on_object(obj=member)
                self._read(member)

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Griffe calls this for everything that it has read."""
        if obj.docstring is None and isinstance(obj, Attribute) and obj.lines:
            comment = COMMENT.search(obj.lines[-1])
            if comment is not None:
                obj.docstring = Docstring(comment[1], parent=obj)
        if obj.docstring is not None:
            fenced = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
            obj.docstring.value = AS_IT_IS.sub(lambda found: found[1] or r"\[", fenced)


def _public_names(stub: Path) -> list[str | Any]:
    """The names that a stub imports."""
    body = ast.parse(stub.read_text(encoding="utf-8")).body
    return [a.name for line in body if isinstance(line, ast.ImportFrom) for a in line.names]
