"""What a live view needs: x11vnc to share the screen, noVNC to show it in a browser."""

from __future__ import annotations

import os
from pathlib import Path

from clawbench.doctor.part import Finding, Status, fine
from clawbench.doctor.programs import ask, find_program
from clawbench.doctor.system import not_there

X11VNC_PACKAGES = ("x11vnc",)
NOVNC_PACKAGES = ("novnc",)
NOVNC_OVERRIDE = "CLAWBENCH_NOVNC"
_PLACES = ("/usr/share/novnc", "/usr/share/webapps/novnc", "/usr/local/share/novnc")
_ENTRANCE = "core/rfb.js"


def find_novnc() -> Path | None:
    """The directory with noVNC's files: what CLAWBENCH_NOVNC names, else where packages put it."""
    chosen = os.environ.get(NOVNC_OVERRIDE)
    places = (chosen,) if chosen else _PLACES
    return next((Path(place) for place in places if Path(place, _ENTRANCE).is_file()), None)


def check_x11vnc() -> Finding:
    path = find_program("x11vnc")
    if path is None:
        return not_there(X11VNC_PACKAGES)
    answer = ask(path, "-version")
    if not answer.ok:
        return not_there(X11VNC_PACKAGES, f"{path} does not start")
    return fine(f"{answer.text.splitlines()[-1]}, {path}")


def check_novnc() -> Finding:
    found = find_novnc()
    if found is not None:
        return fine(str(found))
    if chosen := os.environ.get(NOVNC_OVERRIDE):
        return Finding(
            Status.MISSING, f"no {_ENTRANCE} in {chosen}", f"Correct {NOVNC_OVERRIDE}, or unset it"
        )
    return not_there(NOVNC_PACKAGES)
