"""What a sandbox is made of: namespaces, bubblewrap, control groups, container engines."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clawbench.doctor.part import Finding, Status, fine
from clawbench.doctor.programs import ask, find_program
from clawbench.doctor.system import as_typed_by_user, is_root, not_there

BWRAP_PACKAGES = ("bubblewrap",)
ENGINE_PACKAGES = ("docker.io",)
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CGROUPS = Path("/sys/fs/cgroup")
_SYSCTLS = {
    Path("/proc/sys/kernel/unprivileged_userns_clone"): "kernel.unprivileged_userns_clone=1",
    Path("/proc/sys/user/max_user_namespaces"): "user.max_user_namespaces=15000",
}
_ALLOW_BWRAP = (
    r'printf "abi <abi/4.0>,\nprofile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\n" '
    "> /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap"
)
_TRIAL_SANDBOX = (
    *("--unshare-all", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/"),
    *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),
)
_IN_CONTAINER = (
    "In a container: start it with --privileged, or with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
)


def check_user_namespaces() -> Finding:
    answer = ask("unshare", "--user", "--map-root-user", "true")
    if answer.ok:
        return fine("the kernel makes them")
    if apparmor_restricts() and not is_root():
        return Finding(Status.OK, "only for programs that AppArmor names; see bubblewrap")
    return Finding(Status.MISSING, _last_line(answer.text), namespace_remedy())


def check_bubblewrap() -> Finding:
    path = find_program("bwrap")
    if path is None:
        return not_there(BWRAP_PACKAGES)
    answer = ask(path, *_TRIAL_SANDBOX, "true")
    if not answer.ok:
        return Finding(
            Status.MISSING, f"{path} makes no sandbox: {_last_line(answer.text)}", namespace_remedy()
        )
    version = re.search(r"[\d.]+", ask(path, "--version").text)
    return fine(f"{version[0] if version else 'version unknown'}, {path}, made a sandbox")


def apparmor_restricts() -> bool:
    """Ubuntu since 23.10: only programs with an AppArmor profile that allows it may make user namespaces."""
    return _number(_APPARMOR) == 1


def namespace_remedy() -> str:
    """The one line that lets bubblewrap work, by what stands in its way."""
    if apparmor_restricts() and not is_root():
        return f"AppArmor keeps bubblewrap from making user namespaces: {as_typed_by_user(_ALLOW_BWRAP)}"
    for file, setting in _SYSCTLS.items():
        if _number(file) == 0:
            return (
                f"The kernel is told not to make user namespaces: {as_typed_by_user(f'sysctl -w {setting}')}"
            )
    return _IN_CONTAINER


def check_control_groups() -> Finding:
    folder = memory_group()
    if folder is not None:
        return fine(f"limits by cgroup, {folder}")
    return fine("not writable: limits by a watcher instead")


def memory_group() -> Path | None:
    """The control group below which we may make groups that limit memory, if there is one."""
    groups = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    if "memory" in groups:
        candidates = [_CGROUPS / "memory" / groups["memory"].lstrip("/")]
    else:
        own = _CGROUPS / groups.get("", "/").lstrip("/")
        upwards = [folder for folder in (own, *own.parents) if folder.is_relative_to(_CGROUPS)]
        candidates = [folder for folder in upwards if "memory" in _words(folder / "cgroup.subtree_control")]
    return next((folder for folder in candidates if os.access(folder, os.W_OK)), None)


def check_container_engine() -> Finding:
    reasons = []
    for engine in ("docker", "podman"):
        path = find_program(engine)
        if path is None:
            continue
        answer = ask(path, "version", "--format", "{{.Server.Version}}", patience_s=5)
        if answer.ok:
            return fine(f"{engine} {_last_line(answer.text)}")
        reasons.append(f"{engine}: {_last_line(answer.text)}")
    if reasons:
        return Finding(Status.MISSING, "; ".join(reasons), "Start the engine, and let this user reach it")
    return not_there(ENGINE_PACKAGES)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _last_line(text: str) -> str:
    lines = text.splitlines()
    return lines[-1] if lines else "it says nothing"
