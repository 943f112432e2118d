"""Arguments of PioSOLVER's commands, and the lines of their answers."""

import shlex
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from allstreets.base import Flags, Floats, InputError, shorten
from allstreets.betting import Player, neat, street_of_board
from allstreets.cards import (
    HAND_OF_COMBO,
    Flop,
    canonical_flop,
    card_text,
    combo_text,
    parse_cards,
    preflop_equity,
)
from allstreets.games import Spot, spot_mapping
from allstreets.interop.pio_script import MOST_AMOUNTS

PLAYERS = {"oop": Player.OOP, "0": Player.OOP, "ip": Player.IP, "1": Player.IP}


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def read_player(rest: str) -> tuple[Player, str]:
    """The player that arguments begin with, and what follows."""
    word, _, text = rest.partition(" ")
    if word.lower() not in PLAYERS:
        raise InputError(f"'{shorten(word)}' is not a player: write OOP or IP")
    return PLAYERS[word.lower()], text.strip()


def read_numbers(text: str, count: int) -> list[float]:
    """Read this many numbers."""
    words = text.split()
    if len(words) != count:
        raise InputError(f"incorrect or missing argument: {count:,} numbers, not {len(words):,}")
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise InputError(f"'{shorten(text, 60)}' is not a number") from None
    if not all(0 <= number < 1e9 for number in numbers):
        raise InputError("numbers must be between 0 and a billion")
    return numbers


def read_amounts(text: str) -> tuple[Fraction, ...]:
    """The amounts of a line."""
    count = len(text.split())
    if not 1 <= count <= MOST_AMOUNTS:
        raise InputError(f"a line has 1 to {MOST_AMOUNTS} amounts, not {count:,}")
    return tuple(Fraction(str(number)) for number in read_numbers(text, count))


def read_flop(text: str) -> Flop:
    """Three cards, with spaces between them or not."""
    cards = tuple(parse_cards("".join(text.split())))
    if len(cards) != 3:
        raise InputError(f"a flop has three cards, not {len(cards)}: add_to_subset 1 As Kh 7d")
    return canonical_flop(cards).flop


def read_words(text: str) -> list[str]:
    """The words of a text; words with spaces are quoted, backslashes are plain."""
    reader = shlex.shlex(text, posix=True, punctuation_chars=False)
    reader.whitespace_split, reader.escape, reader.commenters = True, "", ""
    try:
        words = list(reader)
    except ValueError:
        raise InputError("a quotation mark is missing") from None
    if not words:
        raise InputError("name a file")
    return words


def read_path(text: str) -> Path:
    """The path that arguments begin with."""
    path = read_words(text)[0]
    if "\0" in path:
        raise InputError("a path cannot contain NUL characters")
    return Path(path)


def vector_line(values: Floats) -> str:
    """Numbers as one line."""
    return " ".join(f"{value:.9g}" for value in values.tolist())


def hand_lines(shown: Flags, numbers: Sequence[Floats] | Floats) -> list[str]:
    """A line for each hand that is there: `AsAh: 0.25 0.75`; the best hands before the flop first.

    `numbers` are [1326] each.
    """
    combos = np.flatnonzero(shown)
    order = combos[np.argsort(-_strength()[HAND_OF_COMBO[combos]], kind="stable")]
    return [
        f"{combo_text(combo)}: {' '.join(f'{values[combo]:.6g}' for values in numbers)}"
        for combo in order.tolist()
    ]


@cache
def _strength() -> Floats:
    """[169]: the equity of each hand class against all hands before the flop."""
    table = preflop_equity()
    return np.asarray((table.equity * table.pairs).sum(axis=1) / table.pairs.sum(axis=1))


def tree_info(spot: Spot) -> list[str]:
    """A spot as the lines that PioSOLVER's viewer writes; `pio_script` reads them."""
    return [
        "#Type#NoLimit",
        *(f"#Range{player.value}#{spot.ranges[player].beside(spot.cards)}" for player in Player),
        f"#Board#{' '.join(map(card_text, spot.cards))}",
        f"#Pot#{neat(spot.pot)}",
        f"#EffectiveStacks#{neat(spot.stack)}",
        f"#Rake.Enabled#{bool(spot.rake)}",
        f"#Rake.Fraction#{spot.rake:g}",
        f"#Rake.Cap#{neat(spot.rake_cap or 0)}",
        *_size_info(spot),
    ]


def _size_info(spot: Spot) -> Iterator[str]:
    """Sizes by street and player, and thresholds; nothing if single nodes have sizes of their own.

    Without donk sizes of its own OOP bets as usual here, and never in PioSOLVER: so they are named.
    """
    if spot.edit:
        return
    first, adds = street_of_board(spot.cards), bool(spot.add_allin_threshold)
    for name, sizes in spot_mapping(spot)["bet_sizes"].items():
        street, _, seat = name.partition("_")
        head = f"{street.title()}Config{'IP' if seat == 'ip' else ''}"
        lists = {"BetSize": sizes["bet"], "RaiseSize": sizes["raise"]}
        if seat == "oop" and street != first.text:
            lists["DonkBetSize"] = sizes.get("donk", sizes["bet"])
        for key, texts in lists.items():
            yield f"#{head}.{key}#{texts.replace(',', ' ').replace('%', '')}"
        yield f"#{head}.AddAllin#{adds}"
    if adds:
        yield f"#AddAllinOnlyIfLessThanThisTimesThePot#{100 * spot.add_allin_threshold:g}"
    if spot.merging_threshold:
        yield "#MergeSimilarBets#True"
        yield f"#MergeSimilarBetsThreshold#{100 * spot.merging_threshold:g}"
    if not spot.force_allin_threshold:
        yield "#AllinThreshold#100"
