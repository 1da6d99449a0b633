"""Finding a Chromium or Chrome that a program can really drive."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from clawbench.doctor.part import Finding, Status, fine
from clawbench.doctor.programs import ask, find_program, remembered
from clawbench.doctor.system import browser_is_installable, not_there
from clawbench.errors import InputError

OVERRIDE = "CLAWBENCH_BROWSER"
PACKAGES = ("chromium",)
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_SCRIPT_SIZE_LIMIT = 64 * 1024


def find_browser() -> Path | None:
    """The browser to use: what CLAWBENCH_BROWSER names, else the first usable one on PATH."""
    if chosen := os.environ.get(OVERRIDE):
        return _chosen_browser(chosen)
    found = (find_program(name) for name in _NAMES)
    return next((path for path in found if path and not is_snap(path)), None)


def _chosen_browser(chosen: str) -> Path:
    found = shutil.which(chosen)
    if not found:
        raise InputError(
            f"{chosen!r} is not a program",
            file=OVERRIDE,
            remedy="Let it name the browser's executable, or unset it to use the one on PATH",
        )
    return Path(found).absolute()


def is_snap(path: Path) -> bool:
    """A snap's browser is shut in its own sandbox: no foreign profile, no other namespace. Of no use here.

    Ubuntu's `chromium-browser` package is no browser either, only a script that starts the snap.
    """
    real = path.resolve()
    if str(path).startswith("/snap/") or str(real).startswith("/snap/") or real.name == "snap":
        return True
    if real.stat().st_size > _SCRIPT_SIZE_LIMIT:
        return False
    head = real.read_bytes()
    return head.startswith(b"#!") and (b"/snap/bin/" in head or b"snap install" in head)


def check_browser() -> Finding:
    try:
        browser = find_browser()
    except InputError as error:
        return Finding(Status.MISSING, f"{OVERRIDE}: {error.problem}", error.remedy)
    if browser is None:
        stub = next((path for path in map(find_program, _NAMES) if path and is_snap(path)), None)
        return _no_browser(f"{stub} is a snap, which cannot be driven from outside" if stub else "not found")
    version = remembered("version", browser, lambda: _version(browser))
    if version is None:
        said = ask(browser, "--version").text.splitlines()
        return _no_browser(f"{browser} does not start: {said[-1] if said else 'it says nothing'}")
    return fine(f"{version}, {browser}")


def _no_browser(detail: str) -> Finding:
    if browser_is_installable():
        return not_there(PACKAGES, detail)
    remedy = f"Ubuntu has Chromium only as a snap: get it elsewhere and let {OVERRIDE} name its executable"
    return Finding(Status.MISSING, detail, remedy)


def _version(browser: Path) -> str | None:
    found = re.search(r"(?m)^(Chromium|Google Chrome)\D*(\d[\d.]*)", ask(browser, "--version").text)
    return f"{found[1]} {found[2]}" if found else None
