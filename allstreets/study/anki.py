"""Decisions as cards for Anki, through genanki: the extra `allstreets[anki]`."""

import html
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from importlib.util import find_spec
from io import BytesIO
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from allstreets.base import InputError, write_atomic
from allstreets.betting import Player, action_in_words
from allstreets.study.dealing import Wanted
from allstreets.study.grading import Answer
from allstreets.study.results import StoredAnswer

MISSING = (
    "Anki cards are written by genanki, which is not installed:\n  pip install 'allstreets[anki]'"
)
MODEL, DECK = 1_729_168_101, 1_729_168_102  # Anki identifies its cards by these numbers
DECK_NAME = "allstreets practice"
SUITS = {"c": ("♣", "#2e8b57"), "d": ("♦", "#1f6fd6"), "h": ("♥", "#d0312d"), "s": ("♠", "#222")}
STYLE = """.card { font-family: sans-serif; font-size: 20px; text-align: center; }
table { margin: 1em auto; } td { padding: 0.2em 0.8em; } .best { font-weight: bold; }
.cards { font-size: 32px; } .line { color: #777; }"""


def chosen(stored: Iterable[StoredAnswer], wanted: Wanted) -> list[Answer]:
    """The last answer to every missed decision that matches the filter."""
    answers = (entry.answer for entry in stored)
    return list(
        {
            _key(answer): answer for answer in answers if answer.missed and wanted.fits(answer)
        }.values()
    )


def export_anki(answers: Sequence[Answer], path: Path, deck: str = DECK_NAME) -> int:
    """Write one card per decision; return their number. Anki updates known cards."""
    if path.suffix.lower() != ".apkg":
        raise InputError(f"{path}: files for Anki end in .apkg")
    content = anki_package(answers, deck)
    try:
        write_atomic(path, lambda out: out.write(content), durable=False)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    return len(answers)


def anki_problem() -> str | None:
    """The reason why no cards can be written here; None: they can."""
    return MISSING if find_spec("genanki") is None else None


def anki_package(answers: Sequence[Answer], deck: str = DECK_NAME) -> bytes:
    """The file that Anki opens, with one card per decision."""
    problem = anki_problem()
    if problem is not None:
        raise InputError(problem)
    if not answers:
        raise InputError("no missed decision matches the filter: there is nothing to write")
    import genanki

    model = genanki.Model(
        MODEL,
        "allstreets decision",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[
            {
                "name": "Decision",
                "qfmt": "{{Front}}",
                "afmt": "{{FrontSide}}<hr id=answer>{{Back}}",
            }
        ],
        css=STYLE,
    )
    made = genanki.Deck(DECK, deck)
    for answer in answers:
        note: Any = genanki.Note(
            model,
            [_front(answer), _back(answer)],
            guid=genanki.guid_for(*_key(answer)),
            tags=[answer.street, answer.pot_kind, answer.seat],
        )
        made.add_note(note)
    return _packed(genanki.Package(made))


def _packed(package: Any) -> bytes:
    """A package as `genanki` writes it, without its leftover file."""
    now, out = time.time(), BytesIO()
    with TemporaryDirectory() as folder, ZipFile(out, "w") as packed:
        collection = Path(folder) / "collection.anki2"
        with closing(sqlite3.connect(collection)) as db:
            package.write_to_db(db.cursor(), now, count(int(1000 * now)))
            db.commit()
        packed.write(collection, collection.name)
        packed.writestr("media", "{}")
    return out.getvalue()


def _key(answer: Answer) -> tuple[str, ...]:
    """The key of a decision, for either player."""
    return answer.solution, answer.player, answer.line, answer.cards


def _front(answer: Answer) -> str:
    call = f", {answer.to_call_bb:.4g} to call" if answer.to_call_bb else ""
    names = (Player.OOP.seat, Player.IP.seat) if answer.seat in ("BB", "SB") else ("OOP", "IP")
    other = names[Player[answer.player.upper()].opponent]
    board = f"<div class=cards>{_cards(answer.board)}</div>" if answer.board else ""
    actions = ", ".join(action_in_words(option.action) for option in answer.options)
    return (
        f"<div>{answer.street}, {html.escape(answer.solution)}: {answer.seat} against {other}</div>"
        f"<div class=line>{html.escape(answer.words)}</div>{board}"
        f"<div class=cards>{_cards(answer.cards)}</div>"
        f"<div>pot {answer.pot_bb:.4g} bb{call}</div><div>{actions}?</div>"
    )


def _back(answer: Answer) -> str:
    best = answer.best
    rows = "".join(
        f"<tr{' class=best' if option == best else ''}><td>{action_in_words(option.action)}</td>"
        f"<td>{100 * option.frequency:.0f} %</td>"
        f"<td>{'' if option.ev_bb is None else f'{option.ev_bb:.3f} bb'}</td></tr>"
        for option in answer.options
    )
    return f"<table>{rows}</table>"


def _cards(text: str) -> str:
    spans = []
    for start in range(0, len(text), 2):
        sign, colour = SUITS[text[start + 1]]
        spans.append(f'<span style="color: {colour}">{text[start]}{sign}</span>')
    return " ".join(spans)
