"""Consoles that print the user's texts literally: markup and escape sequences have no effect."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from allstreets.base.errors import printable


class PlainConsole(Console):
    """A console on which "[bold]" in a name is a name, and control characters are escapes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """A text, escaped before it is laid out."""
        return super().render_str(printable(text), **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces to print; those that control the terminal are rich's own."""
        for segment in super().render(renderable, options):
            if segment.control is None:
                yield Segment(printable(segment.text), segment.style)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """Leave as every command does; rich would exit with an error."""
        raise BrokenPipeError
