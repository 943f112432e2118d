"""The programs that a tree before the flop is exported for."""

from enum import StrEnum

from allstreets.cards import RangeKind


class ExportKind(StrEnum):
    """The layout of an export: ranges in one of the kinds of `RangeKind`, or HRC's JSON."""

    text = RangeKind.text.value
    pio = RangeKind.pio.value
    pio_1326 = RangeKind.pio_1326.value
    gto = RangeKind.gto.value
    monker = RangeKind.monker.value
    json = RangeKind.json.value
    csv = RangeKind.csv.value
    hrc = "hrc"
