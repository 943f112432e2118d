"""The range that gets to a place of a stored solution, for scripts and the command line."""

from pathlib import Path

from allstreets.betting import split_line, whole_line
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.views.range_words import Reaching
from allstreets.explorer.views.view import open_view


def range_at(
    folder: Path | str,
    line: str = "",
    player: PlayerName | None = None,
    *,
    flop: str | None = None,
    action: str | None = None,
) -> Reaching:
    """A player's range at a line of the solution in a folder; by default that of who acts there.

    `flop` may be named beside a line instead of in it. With an action, as in a line ("r2.5") or by
    name ("raise"), the part of the range that takes it.
    """
    if flop is not None:
        parts = split_line(line, str.strip, flop)
        line = whole_line(parts.root, parts.cards, (parts.after or "").strip())
    return open_view(Path(folder)).range(line, player, action)
