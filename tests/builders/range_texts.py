"""Range texts, and how the server reads each: a table that the page's own reader is checked by.

The page reads range texts itself, so that no click waits for the server. It may leave a text to
the server, but what it reads must be what the server reads. `python -m builders.range_texts` in
`tests/` writes the table again; the page's test reads it (web/src/ranges/reading.test.ts).
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from harness.fuzzing import damaged_cases

from allstreets.cards import COMBO_COUNT, HAND_NAMES, HAND_OF_COMBO, Range, RangeKind
from allstreets.explorer.models.solves import RangeForm
from allstreets.explorer.ranges import range_grid

TABLE = Path(__file__).parents[2] / "allstreets/explorer/web/src/ranges/range-texts.json"
READ = """
|AA|AKs|AKo|AK|kAs|akS|22+|TT+|AA+|A2s-A5s|A5s-A2s|QQ-88|88-QQ|98s-65s|65s-98s|J9o-75o|AK-AJ|98-54
|ATs+|ATo+|AT+|97s+|98s+|QJ+|32s+|32o|A2+|AhKh|KhAh|ahKH|AhAd|AdAh|AA:0.5|AA:.5|AA:1.|AA:0|AA:50%
|AA:33.3%|AA:100%|AA:1e-05|AA:5E-1|AA:1e-2%|AA:0.30000000000000004|22+:0.25|AhKh:0.2,AKs|AKs,AhKh:0.2
|AA,KK;QQ JJ|AA,,KK,|QQ - 88|76s : 0.5|A9s -A6s: .5|AA, AA:0.5|AKs:0.5,AK|22,33 44|22-44|98,87|22;33
|AA:0.5,AsAh:1,AsAd:0|QQ+,AKs,AhKh:0.2,76s:0.3|2c2d,2c2d:0.5|ATs-AJs,KTs+|QQ-QQ|AKs-AKs|AA,KK:00.5
""".replace("\n", "").split("|")  # the empty text too
BLANK = [" ", "\t\n", ",", " ,\r\n,", " AA ,\tKK\nQQ ", "AA\r\nKK", "22\n33", "\nAA", "QQ\n-\n88"]
OTHER = [
    "20%",
    "random",
    "Random:0.5,AA",
    "33.3%:0.25",
    "[50]AA,KK[/50]",
    "50%(AA,KK)",
    "0.5(AA)",
    '{"AA": 1, "AhKh": 0.2}',
    "hand,weight\nAA,1\nAKs,0.5",
    "AA,1\nAKs,0.5",
    "AA;0,5",
    "AA\n1;0\nAKs\n0.5;0",
    "AA\t0.5",
    "\ufeffAA",
    "AA\u00a0KK",
    "AA:0_1",
    "AA:+0.5",
    "AK\u017f",  # a long s
    "AsKs+",
    "AsKs-QsJs",
    "8s8h+",
    "AhAs-QhQs",
    *(
        Range.parse("QQ+,AKs:0.5,AhKd").text(kind)
        for kind in RangeKind
        if kind not in ("text", "pio")
    ),
]
WRONG = """
A|AAA|AX|AAs|AAo|AKx|AA:|AA:2|AA:-1|AA:x|AA:101%|AA:0.5:0.5|:0.5|AA-|-AA|QQ-88-77|QQ-88+|AA++|+AA
|AA-AK|AKs-AQo|AK-QQ|AKs-KJs|AhAh|AhKx|AhK|nonsense|AA,K|;|; ;|[50]AA|AA]|(AA)|AA/KK|1|0.5 0.5
|A-K|AA:NaN|AA:inf|AA:1e999|10|TTT|AK s|AA'|"AA"|ΑΑ
""".replace("\n", "").split("|")
RANDOM = 120


def rows() -> list[dict[str, Any]]:
    """The table; each text once."""
    texts = dict.fromkeys([*READ, *BLANK, *written()], "page")
    texts |= dict.fromkeys(OTHER, "server") | dict.fromkeys(WRONG, "wrong")
    for text in damaged(list(texts)):
        texts.setdefault(text, "both" if _reads(text) else "wrong")
    return [_row(text, kind) for text, kind in texts.items()]


def written() -> list[str]:
    """Ranges of all sorts as they are written here, and as PioSOLVER reads them."""
    texts = []
    for seed in range(RANDOM):
        rng = np.random.default_rng(seed)
        weights = np.array([0, 0, 1, 1, 0.5, 0.25, 1 / 3, 1e-5])[: rng.integers(3, 9)]
        held = rng.choice(weights, size=len(HAND_NAMES))[HAND_OF_COMBO]
        if seed % 3 == 0:
            held[rng.choice(COMBO_COUNT, size=20)] = rng.choice(weights, size=20)
        made = Range(np.where((rng.random(169) < rng.choice([0.1, 0.5]))[HAND_OF_COMBO], held, 0.0))
        texts.append(made.text(RangeKind.pio if seed % 4 == 0 else RangeKind.text))
    return texts


def damaged(texts: list[str]) -> list[str]:
    """Texts with a few letters more, less, or otherwise."""
    valid = [text.encode() for text in texts if 0 < len(text) < 60]
    cases = [data.decode(errors="replace") for _, data in damaged_cases(valid, 4 * RANDOM)]
    return [text for text in cases if len(text) < 200]


def _reads(text: str) -> bool:
    return range_grid(RangeForm(text=text)).problem is None


def _row(text: str, kind: str) -> dict[str, Any]:
    grid = range_grid(RangeForm(text=text))
    assert (grid.problem is not None) == (kind == "wrong"), (text, kind, grid.problem)
    weights = {
        name: round(weight, 13) + 0.0
        for name, weight in zip(HAND_NAMES, grid.weights, strict=True)
        if weight
    }
    mixed = [HAND_NAMES[hand] for hand in grid.mixed]
    return {"text": text, "kind": kind, "weights": weights, "mixed": mixed}


def table_text() -> str:
    """The table as the file has it: a text in each line."""
    lines = ",\n".join(json.dumps(row) for row in rows())
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    TABLE.write_text(table_text())
