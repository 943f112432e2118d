"""The library that comes with the program, as the home page shows it: by format, then by stack.

Ids are those of the folders that games are unpacked into when they are first opened.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from allstreets.explorer.folders import id_of
from allstreets.explorer.models.solution import ReadyMadeFormat, ReadyMadeGame, RealQuality
from allstreets.jobs import target_mbb
from allstreets.solutions import Certificate
from allstreets.storage import Packed, library

EXACT = 0.001  # mbb/hand: games below it count as solved
EXACTLY = "Exact: a perfect opponent wins less than 0.0001 bb in 100 hands"


class ReadyMade:
    """The games of the library by id."""

    def __init__(self, games: Mapping[str, Packed] | None = None) -> None:
        self._games = games

    @cached_property
    def by_id(self) -> dict[str, Packed]:
        """All games, whether they are unpacked or not."""
        games = library() if self._games is None else self._games
        return {id_of(packed.copy): packed for packed in games.values()}

    def unpacked(self) -> list[Path]:
        """The folders of games that have been opened so far."""
        return [packed.copy for packed in self.by_id.values() if packed.copy.exists()]

    def list(self) -> list[ReadyMadeFormat]:
        """The library, format by format: those that see flops first."""
        formats: dict[tuple[str, str], list[tuple[str, Packed]]] = {}
        for id, packed in self.by_id.items():
            formats.setdefault((packed.format, packed.tree), []).append((id, packed))
        shown = [_format(*key, games) for key, games in formats.items()]
        return sorted(shown, key=lambda each: (each.words == EXACTLY, each.name))


def _format(name: str, tree: str, games: "list[tuple[str, Packed]]") -> ReadyMadeFormat:
    games = sorted(games, key=lambda game: game[1].stack)
    return ReadyMadeFormat(
        name=name,
        tree=tree,
        words=_together([packed.certificate for _, packed in games]),
        date=max(str(packed.note["date"]) for _, packed in games),
        games=[_game(id, packed) for id, packed in games],
    )


def _game(id: str, packed: Packed) -> ReadyMadeGame:
    certificate, real = packed.certificate, None
    if certificate is not None:
        low, high = certificate.interval_mbb
        real = RealQuality.of(certificate, low=low, high=high)
    worth = None if certificate is None else certificate.real_exploitability_mbb
    return ReadyMadeGame(
        id=id,
        name=packed.name,
        stack_bb=packed.stack,
        real=real,
        words=worth_in_words(certificate),
        reaches_target=worth is not None and worth <= target_mbb(packed.stack),
    )


def worth_in_words(certificate: Certificate | None) -> str:
    """A certificate as a sentence about 100 hands."""
    if certificate is None:
        return "Not certified"
    worth = certificate.real_exploitability_mbb
    if worth <= EXACT:
        return EXACTLY
    low, high = (_per_hundred(bound) for bound in certificate.interval_mbb)
    sure = "" if low == high else f" (95 % sure: {low} to {high})"
    return f"A perfect opponent wins {_per_hundred(worth)} bb in 100 hands{sure}"


def _per_hundred(mbb: float) -> str:
    """Thousandths of a big blind per hand as big blinds in 100 hands."""
    return f"{mbb / 10:.2g}"


def _together(certificates: "list[Certificate | None]") -> str:
    """The worth of the games of a format, as a sentence."""
    known = [each for each in certificates if each is not None]
    if len(known) < len(certificates) or len(known) == 1:
        return worth_in_words(known[0] if len(known) == len(certificates) else None)
    worths = [each.real_exploitability_mbb for each in known]
    if max(worths) <= EXACT:
        return EXACTLY
    least, most = _per_hundred(min(worths)), _per_hundred(max(worths))
    span = most if least == most else f"{least} to {most}"
    return f"A perfect opponent wins {span} bb in 100 hands"
