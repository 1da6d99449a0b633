"""A certificate for the made-up host names of one run; the browser is told to trust its key and no other."""

from __future__ import annotations

import base64
import hashlib
import logging
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

DAYS = "30"
WITHIN_S = 10


@dataclass(frozen=True)
class Certificate:
    """Made for a run, and worth nothing after it."""

    chain: Path
    key: Path
    key_hash: str
    """SHA-256 of the public key in base64, as Chromium wants it named."""


def make_certificate(hosts: Sequence[str], directory: Path) -> Certificate | None:
    """Files in `directory`; None where this machine's `openssl` is missing or cannot do it."""
    if (openssl := shutil.which("openssl")) is None:
        return None
    chain, key = directory / "site.crt", directory / "site.key"
    names = ",".join(f"DNS:{host}" for host in hosts)
    try:
        _run(
            *(openssl, "req", "-x509", "-nodes", "-days", DAYS, "-subj", f"/CN={hosts[0]}"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-addext", f"subjectAltName={names}"),
            *("-keyout", str(key), "-out", str(chain)),
        )
        public = _run(openssl, "pkey", "-in", str(key), "-pubout", "-outform", "DER")
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("bundled sites have no https: %s", error)
        return None
    return Certificate(chain, key, base64.b64encode(hashlib.sha256(public).digest()).decode())


def _run(*argv: str) -> bytes:
    return subprocess.run(argv, capture_output=True, check=True, timeout=WITHIN_S).stdout
