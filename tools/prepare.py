"""Bring .venv to what a lock file says; run by run.sh with any Python 3.11+, standard library only."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STATE = ROOT / ".clawbench"
BOOTSTRAP = STATE / "bootstrap"
TOOLS_LOCK = ROOT / "requirements-bootstrap.lock"
DEV_LOCK = "requirements-dev.lock"


def main(lock: str) -> int:
    if runs_in_venv() and is_filled(lock):
        return 0
    with only_one():
        if venv_runs("import clawbench") and is_filled(lock):  # another start did it while this one waited
            return 0
        try:
            install(lock)
        except subprocess.CalledProcessError as error:
            say(f"`{' '.join(error.cmd)}` failed, see above")
            return 1
    return 0


def runs_in_venv() -> bool:
    """The usual case, settled without starting another Python."""
    return Path(sys.prefix) == VENV and find_spec("clawbench") is not None


def venv_runs(code: str) -> bool:
    with contextlib.suppress(OSError):
        command = (str(VENV / "bin/python"), "-I", "-c", code)
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    return False


def is_filled(lock: str) -> bool:
    """Whether .venv was filled from this lock, or from the development lock, which holds all of it."""
    stamped = any(stamp(name) == fingerprint(name) for name in (lock, DEV_LOCK))
    return stamped and (VENV / "bin/clawbench").exists()


def stamp(lock: str) -> str | None:
    with contextlib.suppress(OSError):
        return (VENV / f"{lock}.sha256").read_text()
    return None


def fingerprint(lock: str) -> str:
    """Changes with anything that was installed from; the path counts, as .venv does not survive a move."""
    digest = hashlib.sha256(os.fsencode(ROOT))
    for name in (lock, TOOLS_LOCK, "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    STATE.mkdir(exist_ok=True)
    with (STATE / "setup.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(lock: str) -> None:
    adopt_pip_settings()
    uv = find_uv() or install_uv()
    say(f"installing {lock} into {VENV}")
    for old in VENV.glob("*.sha256"):
        old.unlink()
    try:
        fill(uv, lock)
    except subprocess.CalledProcessError:
        if not VENV.exists():
            raise
        say(f"that did not work; making {VENV} anew")
        remove(VENV)
        fill(uv, lock)
    (VENV / f"{lock}.sha256").write_text(fingerprint(lock))


def fill(uv: str, lock: str) -> None:
    if not venv_runs("import sys; sys.exit(sys.version_info < (3, 11))"):
        remove(VENV)
        run(uv, "venv", "-q", "--python", base_python(), VENV)
    into = ("-q", "--python", VENV / "bin/python")
    run(uv, "pip", "sync", *into, "--require-hashes", "--compile-bytecode", ROOT / lock)
    run(uv, "pip", "install", *into, "--no-deps", "--build-constraints", TOOLS_LOCK, "--editable", ROOT)


def base_python() -> str:
    """The interpreter behind this one, which may itself live in the .venv that is being replaced."""
    return getattr(sys, "_base_executable", None) or sys.executable


def find_uv() -> str | None:
    """A uv that knows the option we need: an older one of the user's own is left alone."""
    probe = ("pip", "install", "--build-constraints", str(TOOLS_LOCK), "--help")
    for uv in filter(None, (shutil.which("uv"), str(BOOTSTRAP / "bin/uv"))):
        with contextlib.suppress(OSError):
            if subprocess.run([uv, *probe], capture_output=True, check=False).returncode == 0:
                return uv
    return None


def install_uv() -> str:
    say(f"installing uv into {BOOTSTRAP}")
    remove(BOOTSTRAP)
    wanted = ("install", "-q", "--require-hashes", "-r", TOOLS_LOCK)
    if find_spec("ensurepip"):
        run(base_python(), "-m", "venv", BOOTSTRAP)
        run(BOOTSTRAP / "bin/python", "-m", "pip", *wanted)
    else:  # Debian's Python without its venv package, but with pip
        run(base_python(), "-m", "pip", *wanted, "--target", BOOTSTRAP)
    return str(BOOTSTRAP / "bin/uv")


def adopt_pip_settings() -> None:
    """Let uv use the index, certificates and cache that this machine is set up for."""
    settings = os.environ
    settings.update(PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    for pip_name, uv_name in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE")):
        if pip_name in settings:
            settings.setdefault(uv_name, settings[pip_name])
    cache = Path(settings.get("XDG_CACHE_HOME") or Path(settings.get("HOME", "/nonexistent")) / ".cache")
    if not can_write(cache / "uv"):
        settings.setdefault("UV_CACHE_DIR", str(STATE / "uv"))


def can_write(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def remove(directory: Path) -> None:
    if directory.is_symlink() or directory.is_file():
        directory.unlink()
    elif directory.exists():
        shutil.rmtree(directory)


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


def say(message: str) -> None:
    print(f"clawbench: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
