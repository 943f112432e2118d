"""The base of every config section: strict, frozen, and forgiving of old names.

Values are checked as JSON is: `1` is a number and never true, `"12"` is text and never 12, a list
fills a tuple field. A validator that looks at a whole section must run after its fields
(`mode="after"`): one that runs before them would turn that leniency for tuples off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from allstreets.training.problems import KeyPath, shown


class ConfigWarning(UserWarning):
    """A config is good, but may not mean what its writer thinks. The message is one line."""


class WrongKeyError(ValueError):
    """Raised by a validator of a whole section to say which of its keys is to be changed.

    The validator of a field may name a place inside it: a position in its list, or a path.
    """

    def __init__(self, key: str | int | KeyPath, text: str) -> None:
        super().__init__(text)
        self.path: KeyPath = key if isinstance(key, tuple) else (key,)


@dataclass(frozen=True)
class OldName:
    """A key that is called `new` today; `warning` says what else has changed, such as the unit."""

    new: str
    warning: str | None = None


class ConfigModel(BaseModel):
    """A section of a config file.

    `old_names` maps each former key to its present name; a file may use either, not both.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )

    old_names: ClassVar[Mapping[str, OldName]] = {}


def _range_text(value: Any) -> Any:
    """Text, or what YAML makes of it: `22` is a number there, and a list is often clearer."""
    if isinstance(value, list | tuple):
        return ",".join(str(_range_text(entry)) for entry in value)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        raise ValueError(f"{shown(value)} is a number, not a range; quote it: '{value}'")
    if isinstance(value, dict) and len(value) == 1:
        ((hand, weight),) = value.items()
        raise ValueError(f"a space makes this a key; write '{hand}:{weight}', in quotes")
    raise ValueError(f"{shown(value)} is not a range; write text such as 'QQ+,AKs', in quotes")


# A range as one text. In YAML also a bare `22`, or a list whose entries are joined by commas.
RangeText = Annotated[
    str, BeforeValidator(_range_text, json_schema_input_type=str | int | list[str | int])
]
