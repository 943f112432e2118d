"""The page is built for the messages that this server sends."""

import json

from harness.asking import operations
from harness.browsing import ROOT
from harness.document import document_text


def test_the_page_knows_the_messages_of_this_server() -> None:
    web = ROOT / "allstreets" / "explorer" / "web"
    stored = (web / "openapi.json").read_text()
    assert stored == document_text(), "messages have changed: run make api"


def test_the_document_has_every_operation() -> None:
    found = [
        (method.upper(), path)
        for path, methods in json.loads(document_text())["paths"].items()
        for method in methods
    ]
    assert sorted(found) == sorted(operations())
