"""Numbers for display, in a steady width."""


def figure(value: float | None) -> str:
    """Three significant digits; "–" for what is not known.

    >>> figure(0.012345), figure(1234.5), figure(0.0000012), figure(0), figure(None)
    ('0.0123', '1,234', '1.20e-06', '0', '–')
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) < 1e-4 or abs(value) >= 1e9:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def duration(seconds: float | None) -> str:
    """Minutes and seconds, hours, or days; "–" for what is not known.

    >>> duration(7.2), duration(187), duration(7 * 3600 + 60), duration(3 * 86400), duration(None)
    ('0:07', '3:07', '7:01:00', '3 d 0 h', '–')
    """
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24:,} d {hours % 24} h"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def data_size(size: int | None) -> str:
    """Bytes in the unit that fits.

    >>> data_size(512), data_size(94_000_000), data_size(10_500_000_000), data_size(None)
    ('512 B', '94 MB', '10.5 GB', '–')
    """
    if size is None:
        return "–"
    if size < 1000:
        return f"{size} B"
    amount, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}"
