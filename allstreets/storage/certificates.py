"""The certificate beside a whole game, and the flops of one that is being made.

    FOLDER/certificate/certificate.json        the figures: `solutions.Certificate`
           certificate/work.json               the facts that its flops were evaluated under
           certificate/AsKh7d.safetensors      the values of a flop with real cards
           certificate/9s8s2h-5f0c.safetensors … that was solved first; the hash says how

A flop's file is written as soon as the flop is evaluated. So an interrupted certification resumes
where it stopped, and a later one with more flops, or with other settings for flops that are not
stored, evaluates only the new ones. Files of a solution that has since changed are removed at the
start.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from allstreets.base import (
    DamagedFileError,
    read_checked_arrays,
    write_atomic,
    write_checked_arrays,
)
from allstreets.engines import LiftedValues
from allstreets.games import data_hash
from allstreets.solutions import Certificate
from allstreets.storage.manifest import (
    CERTIFICATE,
    MISFITS,
    cannot_write,
    read_manifest,
    require_facts,
    require_plain_data,
)
from allstreets.storage.solution_files import SUFFIX, drop
from allstreets.version import __version__

FOLDER, WORK = "certificate", "work.json"


def certified_hash(manifest: Mapping[str, Any]) -> str:
    """The hash of everything certified: rules, flops with weights, and all strategies."""
    return data_hash(
        {
            "game": manifest["game"],
            "cards": manifest["cards"],
            "preflop": manifest["files"]["preflop"]["sha256"],
            "flops": [[row["flop"], row["weight"], row.get("sha256")] for row in manifest["flops"]],
        }
    )


def write_certificate(folder: Path, certificate: Certificate) -> None:
    """Store a certificate, whole or not at all."""
    facts = certificate.to_json()
    text = json.dumps({**facts, "checksum": data_hash(facts)}, indent=1, allow_nan=False)
    try:
        write_atomic(folder / CERTIFICATE, lambda out: out.write(text.encode()))
    except OSError as error:
        raise cannot_write(folder, error) from error


def read_certificate(folder: Path, manifest: Mapping[str, Any]) -> Certificate | None:
    """The certificate of a solution, marked where the solution has changed since.

    None: there is none, or it is damaged; it can be made again.
    """
    try:
        facts = json.loads((folder / CERTIFICATE).read_bytes())
        require_plain_data(facts)
        total = facts.pop("checksum")
        require_facts(facts, "certificate")
        certificate = Certificate.of(facts) if total == data_hash(facts) else None
    except (OSError, *MISFITS):
        return None
    if certificate is None or certificate.judged == certified_hash(manifest):
        return certificate
    return replace(certificate, outdated=True)


class CertificateWork:
    """The flops evaluated so far, for a solution and a version that `facts` describe."""

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self.folder, self.facts = folder / FOLDER, dict(facts)

    @classmethod
    def of(cls, folder: Path) -> "CertificateWork":
        """The work on the solution that a folder holds now."""
        judged = certified_hash(read_manifest(folder, "unified"))
        return cls(folder, {"judged": judged, "code_version": __version__})

    def differs(self) -> list[str]:
        """The facts in which stored work differs; empty: there is none, or they are the same."""
        stored = self._facts_there()
        if stored is None:
            return []
        return [key for key in {**stored, **self.facts} if stored.get(key) != self.facts.get(key)]

    def begin(self) -> None:
        """Remove the files of other work; work under the same facts resumes."""
        if self._facts_there() != self.facts:
            for path in self.folder.glob(f"*{SUFFIX}"):
                drop(path)
            text = json.dumps(self.facts)
            try:
                write_atomic(self.folder / WORK, lambda out: out.write(text.encode()))
            except OSError as error:
                raise cannot_write(self.folder.parent, error) from error

    def _facts_there(self) -> dict[str, Any] | None:
        with suppress(OSError, *MISFITS):
            stored: dict[str, Any] = json.loads((self.folder / WORK).read_bytes())
            return dict(stored)
        return None

    def save(self, flop: str, completion: str | None, values: LiftedValues, seconds: float) -> None:
        """Store the values of a flop, and the time they took.

        `completion` says how it was solved first; None: it is played as the solution stores it.
        """
        arrays = {"best": values.best}
        if values.own is not None:
            arrays["own"] = values.own
        try:
            write_checked_arrays(self._path(flop, completion), arrays, {"seconds": seconds})
        except OSError as error:
            raise cannot_write(self.folder.parent, error) from error

    def have(self, flops: Iterable[tuple[str, str | None]]) -> list[bool]:
        """Whether each flop, by its completion, has been evaluated and its file exists."""
        same = self._facts_there() == self.facts
        return [same and self._path(*flop).exists() for flop in flops]

    def load(
        self, flops: Iterable[tuple[str, str | None]]
    ) -> list[tuple[LiftedValues, float] | None]:
        """The values and the seconds of each flop, by its completion.

        None: it has not been evaluated, or its file is damaged.
        """
        same = self._facts_there() == self.facts
        return [self._read(*flop) if same else None for flop in flops]

    def _read(self, flop: str, completion: str | None) -> tuple[LiftedValues, float] | None:
        try:
            arrays, facts = read_checked_arrays(self._path(flop, completion))
            return LiftedValues(arrays["best"], arrays.get("own")), float(facts["seconds"])
        except (DamagedFileError, FileNotFoundError, *MISFITS):
            return None

    def _path(self, flop: str, completion: str | None) -> Path:
        how = f"-{data_hash({'completion': completion})[:4]}" if completion else ""
        return self.folder / f"{flop}{how}{SUFFIX}"
