"""The base of every config section: strict and frozen.

Values are checked as JSON is: `1` is a number and never true, `"12"` is text and never 12, a list
fills a tuple field. A validator that looks at a whole section must run after its fields
(`mode="after"`): one that runs before them would turn that leniency for tuples off.
"""

import ast
import inspect
import types
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from allstreets.training.problems import KeyPath


class ConfigWarning(UserWarning):
    """A config is valid, but may not mean what its author intended. The message is one line."""


class WrongKeyError(ValueError):
    """Raised by a validator of a whole section to say which of its keys is to be changed.

    The validator of a field may name a place inside it: a position in its list, or a path.
    """

    def __init__(self, key: str | int | KeyPath, text: str) -> None:
        super().__init__(text)
        self.path: KeyPath = key if isinstance(key, tuple) else (key,)


class ConfigModel(BaseModel):
    """A section of a config file."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
    )

    @classmethod
    def named_fields(cls) -> dict[str, FieldInfo]:
        """The fields by the keys that a file has."""
        return {known.alias or name: known for name, known in cls.model_fields.items()}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema, in which a field's docstring is its description.

        Pydantic would read the sources of every section whenever one of them is imported.
        """
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for key, text in cls._docstrings().items():
            properties[key].setdefault("description", text)
        return schema

    @classmethod
    def _docstrings(cls) -> dict[str, str]:
        """By the keys that a file has, those of the sections that this one extends included."""
        found: dict[str, str] = {}
        for section in reversed(cls.__mro__):
            if issubclass(section, ConfigModel):
                [definition] = ast.parse(dedent(inspect.getsource(section))).body
                assert isinstance(definition, ast.ClassDef)
                for field, text in pairwise(definition.body):
                    match field, text:
                        case (
                            ast.AnnAssign(target=ast.Name(name)),
                            ast.Expr(value=ast.Constant(str(words))),
                        ):
                            found[name] = inspect.cleandoc(words)
        known = cls.model_fields
        return {known[name].alias or name: text for name, text in found.items() if name in known}


def alternatives(annotation: Any) -> list[Any]:
    """The members of a union, flat; other annotations stand for themselves."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [part for choice in get_args(annotation) for part in alternatives(choice)]
    return [annotation]


def choices(known: FieldInfo | None) -> list[Any]:
    """The values that a field of fixed values takes."""
    found: list[Any] = []
    for choice in alternatives(known.annotation) if known else ():
        if get_origin(choice) is Literal:
            found += get_args(choice)
        elif hasattr(choice, "__members__"):
            found += [member.value for member in choice]
    return found
