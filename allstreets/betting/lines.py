"""Lines of play as text, in the notation of a game: "x b33 c | 7h | x", "r2.5 c | AhKd7s | x b50%".

`betting.words` has the words. Between two streets the dealt card is named, `| 7h |`, or `| * |`
where any card will do. Where cards are averaged over, there is `|`, `| * |` or nothing at all. The
empty line is the root of the tree.

A whole line leads through two trees: ROOT | FLOP | words after the flop. ROOT names the pot that
sees the flop, by the words before it or in another way; `*` for the flop means that none is named.

Lines also read as sentences: "SB raises to 2, BB calls; flop Ks7h2d: BB checks". A line says by
itself who acts: players take turns on every street, the button first before the flop and last after
it. So no tree is needed, and lines of played hands read the same way, although no tree has their
sizes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from allstreets.base import InputError
from allstreets.betting.table import Player, Street
from allstreets.betting.tree import BettingTree, NodeKind
from allstreets.betting.words import (
    BIG_BLINDS,
    CHIPS,
    IMPERATIVES,
    SIZED_WORD,
    Notation,
    action_word,
    find_action,
    offer,
)
from allstreets.cards import (
    CanonicalFlop,
    card_text,
    cards_text,
    parse_board,
    parse_card,
    parse_flop,
)

ANY_CARD = -1
ANY_CARD_WORD = "*"
SEPARATOR = "|"
CARD = re.compile(r"[2-9tjqka][cdhs]", re.IGNORECASE)
FLOP = re.compile(r"(?:[2-9tjqka][cdhs][\s,]*){3}", re.IGNORECASE)

Root = TypeVar("Root")
VERBS = {"f": "folds", "x": "checks", "c": "calls", "a": "goes all-in"}
SIZED_VERBS = {"b": "bets", "r": "raises to"}
RAISES = "raises"  # a share of the pot is no total
LIMPS = "limps"
FIRST = "first to act"
RATIO = "spr"


@dataclass(frozen=True)
class Line:
    """A path through the tree: the nodes from the root on, and the cards dealt along it.

    `cards` has one entry for each CHANCE node that was passed; ANY_CARD where it was left open.
    """

    nodes: tuple[int, ...]
    cards: tuple[int, ...] = ()

    @property
    def node(self) -> int:
        """The node that the line leads to."""
        return self.nodes[-1]


def parse_line(
    tree: BettingTree,
    text: str,
    board: Sequence[int] = (),
    *,
    any_card: bool = False,
    notation: Notation = CHIPS,
) -> Line:
    """Follow a line from the root; `board` has the cards that can no longer be dealt.

    The line may end anywhere, also where the next card is to be dealt. `any_card` allows `*` where
    cards are named.
    """
    try:
        return _follow(tree, text, board, any_card, notation)
    except InputError as error:
        raise InputError(f"{_quoted(tree, text, notation)}: {error}") from None


def find_decision(tree: BettingTree, text: str, notation: Notation) -> int:
    """The decision that a line leads to in a game that averages over cards."""
    node = dealt(tree, parse_line(tree, text, notation=notation).node)
    if tree.kind[node] != NodeKind.DECISION:
        raise InputError(f"{_quoted(tree, text, notation)}: no player acts there any more")
    return node


def line_text(
    tree: BettingTree, node: int, cards: Sequence[int] = (), notation: Notation = CHIPS
) -> str:
    """The canonical text of the line to a node; `*` for cards that are named and not given."""
    given = iter(cards)
    words: list[str] = []
    for step in tree.path_to(node)[1:]:
        if tree.actions[step] is not None:
            words.append(action_word(tree, step, notation))
        else:
            card = next(given, ANY_CARD)
            named = ANY_CARD_WORD if card == ANY_CARD else card_text(card)
            words.append(notation.deal.format(named))
    text = " ".join(words)
    return text.removesuffix(f" {SEPARATOR}") if notation.names_cards else text


def dealt(tree: BettingTree, node: int) -> int:
    """The node itself, or its child once a card has been dealt there."""
    goes_on = tree.kind[node] == NodeKind.CHANCE and tree.child_count[node]
    return int(tree.children_of(node)[0]) if goes_on else node


@dataclass(frozen=True)
class WholeLine(Generic[Root]):
    """A line taken apart."""

    before: str  # the words before the flop
    root: Root  # what they stand for
    flop: CanonicalFlop | None  # None: not named
    cards: str  # the flop as it was written
    after: str | None  # the words after the flop; None: the line ends before it


def split_line(
    line: str, read_root: Callable[[str], Root], flop: str | None = None
) -> WholeLine[Root]:
    """Take a whole line apart; `flop` may be named in the line, beside it, or not at all."""
    before, *rest = line.split(SEPARATOR)
    if FLOP.fullmatch(before.strip()):
        before, rest = "", [before, *rest]
    first, inside = rest[0].strip() if rest else "", None
    if first == ANY_CARD_WORD or FLOP.fullmatch(first):
        inside = rest.pop(0)
    after = SEPARATOR.join(rest) if rest or inside is not None else None
    inside = None if first == ANY_CARD_WORD else inside
    named = flop if flop is not None else inside
    canonical = None if named is None else parse_flop(named)
    if canonical is not None and inside is not None and parse_flop(inside).flop != canonical.flop:
        raise InputError(f"line '{line}': its flop differs from {named}; leave one of them out")
    cards = "" if named is None else cards_text(parse_board(named))
    return WholeLine(before.strip(), read_root(before), canonical, cards, after)


def whole_line(root: str, cards: str = "", after: str = "") -> str:
    """The canonical text of a whole line; `cards` are a flop, or `*` for any."""
    parts = [root, *([cards] if cards else []), *([after] if cards and after else [])]
    return f" {SEPARATOR} ".join(parts).strip()


def any_cards(line: str) -> str:
    """The line whatever cards are dealt on the way.

    >>> any_cards("r2.5 c | AhKd7s | x x | 5c | b50%")
    'r2.5 c | * | x x | * | b50%'
    """
    parts = (part.strip() for part in line.split(SEPARATOR))
    dealt = (
        FLOP.fullmatch(part) or CARD.fullmatch(part)
        for part in line.replace(" ", "").split(SEPARATOR)
    )
    words = [ANY_CARD_WORD if card else part for part, card in zip(parts, dealt, strict=True)]
    return f" {SEPARATOR} ".join(words).strip()


def _quoted(tree: BettingTree, text: str, notation: Notation) -> str:
    """A line as messages quote it; the part after the flop is marked as such."""
    part = notation.shares and tree.first_street > Street.PREFLOP
    return f"line '{text.strip()}'" + (" after the flop" if part else "")


def _follow(
    tree: BettingTree, text: str, board: Sequence[int], any_card: bool, notation: Notation
) -> Line:
    """The node after some parts. Where cards are named every second part is a card."""
    nodes, cards = [0], list[int]()
    for position, part in enumerate(text.split(SEPARATOR)):
        if notation.names_cards and position % 2:
            taken = [*board, *cards]
            cards.append(_read_card(tree, nodes[-1], part, taken, any_card, notation))
            nodes.append(dealt(tree, nodes[-1]))
            continue
        for word in part.split():
            if not notation.names_cards:
                if word == ANY_CARD_WORD:
                    continue
                if dealt(tree, nodes[-1]) != nodes[-1]:
                    nodes.append(dealt(tree, nodes[-1]))
                    cards.append(ANY_CARD)
            nodes.append(_act(tree, nodes[-1], word, notation))
    return Line(tuple(nodes), tuple(cards))


def _act(tree: BettingTree, node: int, word: str, notation: Notation) -> int:
    """The node that a word leads to."""
    if tree.kind[node] == NodeKind.CHANCE:
        way, street = line_text(tree, node, notation=notation), _street_dealt(tree, node)
        if street == Street.FLOP:
            raise InputError(f"'{word}': the flop is dealt after '{way}'")
        advice = f"write '{way} {SEPARATOR} 7h {SEPARATOR} {word}'"
        raise InputError(f"'{word}': the {street.text} card is missing: {advice}")
    _refuse_end(tree, node, word, notation)
    if not notation.names_cards and CARD.fullmatch(word):
        raise InputError(
            f"'{word}': turn and river are averaged over: write {ANY_CARD_WORD} for the card, or "
            "leave it out"
        )
    return find_action(tree, node, word, notation)


def _read_card(
    tree: BettingTree,
    node: int,
    part: str,
    taken: Sequence[int],
    any_card: bool,
    notation: Notation,
) -> int:
    """The card between two bars."""
    word, place = part.strip(), f"{SEPARATOR}{part.rstrip()}"
    _refuse_end(tree, node, place, notation)
    if tree.kind[node] == NodeKind.DECISION:
        raise InputError(f"'{place}': no card is dealt yet, {offer(tree, node, notation)}")
    if word == ANY_CARD_WORD and any_card:
        return ANY_CARD
    street = _street_dealt(tree, node).text
    try:
        card = parse_card(word)
    except InputError:
        problem = f"'{word}' is not a card" if word else "the line ends"
        way = line_text(tree, node, notation=notation)
        raise InputError(
            f"the {street} card is missing, {problem}: write '{way} | 7h | …'"
        ) from None
    if card in taken:
        raise InputError(f"the {street} card {card_text(card)} is on the board already")
    return card


def _refuse_end(tree: BettingTree, node: int, word: str, notation: Notation) -> None:
    if tree.is_terminal[node]:
        blinds = not node and tree.first_street == Street.PREFLOP
        way = f"after '{line_text(tree, node, notation=notation)}'"
        way = "with the blinds: all-in" if blinds else way
        raise InputError(f"'{word}': the hand is over {way}")


def _street_dealt(tree: BettingTree, node: int) -> Street:
    return Street(int(tree.street[node]) + 1)


def line_in_words(
    line: str, notation: Notation = BIG_BLINDS, street: Street = Street.PREFLOP
) -> str:
    """A line in words; its first word is an action on `street`.

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


def action_in_words(word: str, line: str | None = None) -> str:
    """An action in words, in the imperative; `line` leads to it.

    >>> [action_in_words(word) for word in ("f", "a", "b33", "r2.5", "r60%")]
    ['fold', 'all-in', 'bet 33', 'raise to 2.5', 'raise 60 %']
    >>> action_in_words("c", line="")  # nobody has bet
    'limp'
    """
    if line == "" and word == "c":
        return "limp"
    verb, amount = IMPERATIVES[word[0].lower()], word[1:]
    if amount.endswith("%"):
        verb, amount = verb.removesuffix(" to"), f"{amount[:-1]} %"
    return f"{verb} {amount}".rstrip()


def _sentences(parts: list[str], notation: Notation, street: Street) -> Iterator[str]:
    """One sentence per street, which begins with the card that opens it."""
    deal = ""
    for index, part in enumerate(parts):
        is_deal = _is_deal(part)
        if is_deal or (index and not deal):  # a bar alone: the card is averaged over
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
    for index, word in enumerate(words):
        limps = word == "c" and not index and street == Street.PREFLOP
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
