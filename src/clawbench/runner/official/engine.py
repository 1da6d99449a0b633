"""Docker, as far as SWE-bench's evaluator needs it to be there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess

from clawbench.errors import MissingPartError
from clawbench.extras import extra_line

PATIENCE_S = 30
_WHY = "SWE-bench's evaluator runs instances in it"


def require_parts() -> None:
    """The evaluator, docker's command line, and a daemon that answers."""
    if importlib.util.find_spec("swebench") is None:
        raise MissingPartError(
            "swebench", "it is SWE-bench's own evaluator", f"Install it: `{extra_line('swebench')}`"
        )
    if shutil.which("docker") is None:
        raise MissingPartError("docker", _WHY, "Install it (Debian: `apt-get install docker.io`)")
    answer = _ask("version", "--format", "{{.Server.Version}}")
    if answer.returncode:
        said = " ".join(answer.stderr.split()) or "it does not answer"
        raise MissingPartError(
            "docker's daemon",
            f"{_WHY}; {said}",
            "Start it (`systemctl start docker`, or `dockerd`), let this user reach it, "
            "or name another in DOCKER_HOST",
        )


def environment() -> dict[str, str]:
    """For the evaluator, whose library does not know the contexts of docker's command line."""
    host = _ask("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    named = {"DOCKER_HOST": host.stdout.strip()} if host.returncode == 0 and host.stdout.strip() else {}
    return {**named, **os.environ, "HF_HUB_OFFLINE": "1"}


def local_images() -> set[str]:
    return set(_ask("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").stdout.split())


def remove_containers(run_id: str) -> None:
    """What an evaluator that was ended under way has left."""
    left = _ask("ps", "--all", "--quiet", "--filter", f"name={run_id}").stdout.split()
    if left:
        _ask("rm", "--force", "--volumes", *left)


def _ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {PATIENCE_S} s")
