"""What a web task needs besides the browser: a screen, a video encoder, letters to show, commands."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from clawbench.doctor.part import Finding, Status, fine
from clawbench.doctor.programs import ask, find_program, remembered
from clawbench.doctor.system import not_there

XVFB_PACKAGES = ("xvfb",)
FFMPEG_PACKAGES = ("ffmpeg",)
FONT_PACKAGES = ("fonts-dejavu-core", "fonts-liberation")
COMMAND_PACKAGES = ("jq", "file")


def check_xvfb() -> Finding:
    path = find_program("Xvfb")
    if path is None:
        return not_there(XVFB_PACKAGES)
    if "-fbdir" not in ask(path, "-help").text:
        return not_there(XVFB_PACKAGES, f"{path} does not start, or cannot share its frame buffer (-fbdir)")
    return fine(str(path))


def check_ffmpeg() -> Finding:
    path = find_program("ffmpeg")
    if path is None:
        return not_there(FFMPEG_PACKAGES)
    version = remembered("libx264", path, lambda: _version_with_x264(path))
    if version is None:
        return not_there(FFMPEG_PACKAGES, f"{path} cannot encode with libx264")
    return fine(f"{version}, libx264, {path}")


def _version_with_x264(ffmpeg: Path) -> str | None:
    answer = ask(ffmpeg, "-encoders")
    if not answer.ok or " libx264 " not in answer.text:
        return None
    return answer.text.removeprefix("ffmpeg version ").split()[0]


def check_commands() -> Finding:
    """Of the commands that a web agent may use, those that not every system has."""
    absent = [name for name in COMMAND_PACKAGES if find_program(name) is None]
    if absent:
        detail = f"no {' and no '.join(absent)}: web agents do without"
        return replace(not_there(tuple(absent), detail), status=Status.WARNING)
    return fine(", ".join(COMMAND_PACKAGES))


def check_fonts() -> Finding:
    families = _font_families()
    if not families:
        return not_there(FONT_PACKAGES, "no font for Latin text")
    return fine(f"{len(families)} families, such as {families[0]}")


def _font_families() -> list[str]:
    if lister := find_program("fc-list"):
        text = ask(lister, ":lang=en", "family").text
        return sorted({line.split(",")[0] for line in text.splitlines() if line})
    return sorted({file.stem for folder in _font_folders() for file in folder.rglob("*.[to]tf")})


def _font_folders() -> list[Path]:
    home = Path(os.environ.get("HOME", "/nonexistent"))
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts"]
