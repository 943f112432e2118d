"""Answers that a browser saves as files."""

import re

from fastapi import Response

ODD = re.compile(r"[^A-Za-z0-9_.-]+")  # what a header, or a file system, might stumble over
MOST_LETTERS = 80


def download(content: str | bytes, media_type: str, name: str, suffix: str) -> Response:
    """A file with a name for people, as far as it is plain: "My game" becomes My-game.zip."""
    plain = ODD.sub("-", name).strip("-.")[:MOST_LETTERS] or "allstreets"
    return Response(
        content,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{plain}{suffix}"'},
    )
