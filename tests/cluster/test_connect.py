"""Connecting to a cluster: messages when there is none, or no Ray."""

import sys

import pytest

from allstreets.base import InputError
from allstreets.cluster.connect import connect


def test_without_ray_two_lines_say_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError) as error, connect("local"):
        pass
    assert str(error.value) == (
        "--cluster needs Ray, which is not installed.\n"
        "Install it, on every machine of the cluster: pip install allstreets[cluster]"
    )


def test_addresses_that_lead_nowhere() -> None:
    with pytest.raises(InputError, match="is not an address; write auto, local, or HOST:PORT"):
        connect("nowhere").__enter__()
    with pytest.raises(InputError, match=r"the cluster at 127\.0\.0\.1:1 does not answer"):
        connect("127.0.0.1:1").__enter__()
