"""Every machine of a cluster has the same allstreets."""

import socket

from allstreets.base import InputError
from allstreets.version import __version__


def require_version(version: str) -> str:
    """Refuse to work for an asker of another version; the name of this machine."""
    host = socket.gethostname()
    if version != __version__:
        raise InputError(
            f"{host} has allstreets {__version__}, and this is {version}; "
            "install the same version on every machine of the cluster"
        )
    return host
