"""The read-only system that a bubblewrap sandbox shows: as arguments for bwrap."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

HOME = "/home/agent"
HOSTNAME = "sandbox"
SCRATCH = ("/tmp", "/run", "/dev/shm")
"""Memory file systems that the program may write."""

_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives",
    "bash.bashrc",
    "ca-certificates.conf",
    "chromium",
    "chromium.d",
    "crypto-policies",
    "debian_version",
    "fonts",
    "glvnd",
    "gtk-3.0",
    "host.conf",
    "inputrc",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "pki/ca-trust/extracted",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    "python3",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "vulkan",
    "xdg",
)
_LOOKUPS = ("passwd", "group", "hosts", "services", "protocols")
# An invoker that is root is the kernel's root to /proc/sys even without capabilities: writing
# core_pattern there would be a way out. bwrap covers some of these, but not for root in a user namespace.
_PROC_READ_ONLY = ("acpi", "asound", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys")
_PROC_EMPTY = (
    "kallsyms",
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "latency_stats",
    "sched_debug",
    "sysrq-trigger",
    "timer_list",
)


def host_arguments() -> Iterator[str]:
    """What belongs to the host's /usr, but not that itself."""
    for path in ("/etc", "/etc/ssl", "/home"):
        yield from ("--perms", "0755", "--dir", path)
    for name in _TOP:
        yield from _as_on_host(Path("/", name))
    for name in _ETC:
        yield from _as_on_host(Path("/etc", name))


def own_arguments(tmpfs_bytes: int | None) -> Iterator[str]:
    """What is the same over any root; `tmpfs_bytes` bounds each scratch file system."""
    yield from ("--proc", "/proc", "--dev", "/dev")
    for name in _PROC_READ_ONLY:
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")
    for name in _PROC_EMPTY:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")
    for path in SCRATCH:
        size = ("--size", str(tmpfs_bytes)) if tmpfs_bytes else ()
        yield from (*size, "--perms", "1777", "--tmpfs", path)
    yield from ("--dir", "/var", "--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run")


def _as_on_host(path: Path) -> Iterator[str]:
    if path.is_symlink():
        yield from ("--symlink", os.readlink(path), str(path))
    elif path.exists():
        yield from ("--ro-bind", str(path), str(path))


def made_up_files(uid: int) -> dict[str, str]:
    """Files of /etc that must not come from the host."""
    return {
        "/etc/passwd": (
            f"root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:{uid}:{uid}:agent:{HOME}:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
        ),
        "/etc/group": f"root:x:0:\nagent:x:{uid}:\nnogroup:x:65534:\n",
        # IPv4 only: services are brought in on 127.0.0.1, and some programs would try ::1 alone.
        "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n",
        "/etc/nsswitch.conf": "".join(f"{name}: files\n" for name in _LOOKUPS),
    }
