"""The OpenAPI document as text: PYTHONPATH=tests python -m harness.document > web/openapi.json"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from allstreets.explorer.app import create_app
from allstreets.explorer.server import open_folders


def document_text() -> str:
    """The document that the page's types are generated from; the version is left out of it.

    A new version of the package is not a change of messages.
    """
    with TemporaryDirectory() as folder:
        document = create_app(*open_folders([], Path(folder)), hosts=()).openapi()
    document["info"]["version"] = ""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(document_text(), end="")
