"""The layouts in which ranges are written; a separate file, since it imports nothing."""

from enum import StrEnum


class RangeKind(StrEnum):
    """The format of a range's text."""

    text = "text"
    pio = "pio"
    pio_1326 = "pio-1326"
    gto = "gto+"
    monker = "monker"
    json = "json"
    csv = "csv"

    @property
    def suffix(self) -> str:
        """The suffix of its files."""
        return {"monker": ".rng", "json": ".json", "csv": ".csv"}.get(self.value, ".txt")
