"""Lines of play as sentences: "SB raises to 2, BB calls; flop Ks7h2d: BB checks".

A line says by itself who acts: players take turns on every street, the button first before the flop
and last after it. So no tree is needed, and lines of played hands, whose sizes no tree has, read
the same way.
"""

from collections.abc import Iterator

from allstreets.betting.lines import ANY_CARD_WORD, CARD, FLOP, SEPARATOR
from allstreets.betting.table import Player, Street
from allstreets.betting.words import BIG_BLINDS, SIZED_WORD, Notation

VERBS = {"f": "folds", "x": "checks", "c": "calls", "a": "goes all-in"}
SIZED_VERBS = {"b": "bets", "r": "raises to"}
RAISES = "raises"  # a share of the pot is no total
LIMPS = "limps"
FIRST = "first to act"
RATIO = "spr"


def line_in_words(
    line: str, notation: Notation = BIG_BLINDS, street: Street = Street.PREFLOP
) -> str:
    """A line for people; its first word is an action on `street`.

    >>> line_in_words("r2 c | Ks7h2d | x")
    'SB raises to 2, BB calls; flop Ks7h2d: BB checks'
    >>> line_in_words("c x | Ks7h2d | x b50% r60% c | a")  # turn and river are averaged over
    'SB limps, BB checks; flop Ks7h2d: BB checks, SB bets 50 %, BB raises 60 %, SB calls; \
turn: BB goes all-in'
    >>> line_in_words("r2.5 c | * | x x | 5c | b3")
    'SB raises to 2.5, BB calls; any flop: BB checks, SB checks; turn 5c: BB bets 3'

    Spots are written in chips, and begin on the street of their board.

    >>> from allstreets.betting.words import CHIPS, POT_SHARES
    >>> line_in_words("x b33 c | 7h | x", CHIPS, Street.TURN)
    'OOP checks, IP bets 33, OOP calls; river 7h: OOP checks'
    >>> line_in_words("", CHIPS, Street.RIVER)
    'first to act'

    Flops that were solved one by one begin with a ratio.

    >>> line_in_words("spr3.5 | AsKh7d | x b50% c | * | a", POT_SHARES)
    'SPR 3.5; flop AsKh7d: OOP checks, IP bets 50 %, OOP calls; any turn: OOP goes all-in'
    """
    parts = [part.strip() for part in line.split(SEPARATOR)]
    if _is_deal(parts[0]):
        parts = ["", *parts]
    return "; ".join(_sentences(parts, notation, street)) or FIRST


def _sentences(parts: list[str], notation: Notation, street: Street) -> Iterator[str]:
    """One sentence a street; the card that opens it stands before its actions."""
    deal = ""
    for place, part in enumerate(parts):
        is_deal = _is_deal(part)
        if is_deal or (place and not deal):  # a bar alone: the card is averaged over
            street = Street(min(street + 1, Street.RIVER))
            deal = _deal(part, street) if is_deal else street.text
        actions = "" if is_deal else _actions(part.split(), notation, street)
        if actions:
            yield f"{deal}: {actions}" if deal else actions
            deal = ""
    if deal:
        yield deal


def _is_deal(part: str) -> bool:
    return part == ANY_CARD_WORD or bool(CARD.fullmatch(part) or FLOP.fullmatch(part))


def _deal(part: str, street: Street) -> str:
    return f"any {street.text}" if part == ANY_CARD_WORD else f"{street.text} {part}"


def _actions(words: list[str], notation: Notation, street: Street) -> str:
    if words and words[0].lower().startswith(RATIO):
        return f"SPR {words[0][len(RATIO) :]}"
    player = Player.IP if street == Street.PREFLOP else Player.OOP
    texts = []
    for place, word in enumerate(words):
        limps = word == "c" and not place and street == Street.PREFLOP
        texts.append(f"{notation.seats[player]} {LIMPS if limps else _verb(word)}")
        player = player.opponent
    return ", ".join(texts)


def _verb(word: str) -> str:
    """An action in the third person: "bets 33", "raises to 2.5", "bets 50 %"."""
    sized = SIZED_WORD.fullmatch(word.lower())
    if sized is None:
        return VERBS.get(word.lower(), word)
    letter, amount, unit = sized.groups()
    if unit == "%":
        return f"{RAISES if letter == 'r' else SIZED_VERBS[letter]} {amount} %"
    return f"{SIZED_VERBS[letter]} {amount}" + (f" {unit}" if unit else "")
