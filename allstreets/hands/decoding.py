"""The bytes of a hand history as text, whichever encoding its writer used."""

import codecs

MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> str:
    """The text of a file: by its mark, as UTF-8 if it is that, or else as Windows' Latin-1.

    >>> decode("Zoë: folds".encode("latin-1")) == decode("Zoë: folds".encode("utf-16"))
    True
    """
    for mark, encoding in MARKED:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    # Text of the West in 16 bits without a mark: every second byte is zero.
    if data[:200].count(0) * 3 > len(data[:200]):
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:  # five bytes are nothing there
        return data.decode("latin-1")
