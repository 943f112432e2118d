"""The page is built for the messages that this server sends."""

from pathlib import Path

from allstreets.explorer import document


def test_the_page_knows_the_messages_of_this_server() -> None:
    web = Path(document.__file__).parent / "web"
    stored = (web / "openapi.json").read_text()
    assert stored == document.document_text(), "messages have changed: run make api"
