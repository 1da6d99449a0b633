"""Which Linux this is, and how packages get onto it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence

from clawbench.doctor.part import Finding, Status
from clawbench.doctor.programs import ask

UNATTENDED = "-qy -o DPkg::Lock::Timeout=300"
_BROWSER = "chromium"
_CHROME_DEB = "https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb"
_TOOLS_FOR_CHROME = ("ca-certificates", "wget")


def distribution() -> str:
    """`debian`, `ubuntu`, `fedora`, …"""
    try:
        return platform.freedesktop_os_release().get("ID", "linux")
    except OSError:
        return "linux"


def has_apt() -> bool:
    return shutil.which("apt-get") is not None


def is_root() -> bool:
    return os.geteuid() == 0


def root_prefix() -> list[str] | None:
    """What to put before a command to run it as root without a password; None: we may not."""
    if is_root():
        return []
    return ["sudo", "-n"] if ask("sudo", "-n", "true").ok else None


def browser_is_packaged() -> bool:
    """Ubuntu's archive holds no browser, only scripts that install the snap."""
    return distribution() != "ubuntu"


def browser_is_installable() -> bool:
    """Google's own package fills Ubuntu's gap, on the processor that our address serves."""
    return browser_is_packaged() or platform.machine() == "x86_64"


def install_line(packages: Sequence[str], options: str = "-y") -> str:
    """The shell line that brings these packages, to be run as root."""
    apt = f"apt-get {options} install --no-install-recommends"
    if _BROWSER not in packages or browser_is_packaged():
        return f"apt-get update && {apt} {' '.join(packages)}"
    others = [*(name for name in packages if name != _BROWSER), *_TOOLS_FOR_CHROME]
    get_chrome = f"d=$(mktemp -d) && chmod 755 $d && wget -nv -O $d/chrome.deb {_CHROME_DEB}"
    return f"apt-get update && {apt} {' '.join(others)} && {get_chrome} && {apt} $d/chrome.deb"


def what_comes(packages: Sequence[str]) -> str:
    """The packages in words, and the source of one that is not the distribution's own."""
    if _BROWSER not in packages or browser_is_packaged():
        return " ".join(packages)
    return "google-chrome-stable from dl.google.com, as Ubuntu has Chromium only as a snap"


def as_typed_by_user(line: str) -> str:
    """A shell line that needs root, ready to be pasted by whoever is reading it."""
    if is_root():
        return line
    return f"{'sudo sh' if shutil.which('sudo') else 'su'} -c '{line}'"


def not_there(packages: Sequence[str], detail: str = "not found") -> Finding:
    """The finding about a part that installing these packages would bring."""
    if not has_apt():
        remedy = f"Install it with your package manager; Debian calls it {' '.join(packages)}"
        return Finding(Status.MISSING, detail, remedy)
    return Finding(Status.MISSING, detail, as_typed_by_user(install_line(packages)), installing_helps=True)
