"""Runs first inside a sandbox and then becomes the program: nothing of it stays.

Needs nothing but the standard library; started as `python -I -S -E <this> <descriptor>`. The descriptor is a
stream socket to the trusted side: it gets the job from there, hands out the listening sockets, and a
socket that closes without a message means that the program took over.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any

HELLO = b"H"
LISTENERS = b"L"
FAILED = b"E"
MOST_DESCRIPTORS = 128
KEYCTL_JOIN_SESSION_KEYRING = 1


def receive_job(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, descriptors, _, _ = socket.recv_fds(channel, 4, MOST_DESCRIPTORS)
    if not head:
        sys.exit("the trusted side went away")
    (size,) = struct.unpack("!I", head)
    body = bytearray()
    while len(body) < size:
        part = channel.recv(min(size - len(body), 1 << 20))
        if not part:
            sys.exit("the trusted side went away")
        body += part
    return json.loads(body), list(descriptors)


def open_listeners(ports: list[int]) -> list[socket.socket]:
    listeners = []
    for port in ports:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise OSError(error.errno, f"port {port} of the sandbox's loopback: {error.strerror}") from None
        listener.listen(1024)
        listeners.append(listener)
    return listeners


def place_descriptors(channel: socket.socket, wanted: list[int]) -> socket.socket:
    """Put `wanted` on 1, 2, 3, …, the channel above them, and close all others."""
    above = len(wanted) + 1
    parked = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, above + 1) for fd in wanted]
    moved = fcntl.fcntl(channel.fileno(), fcntl.F_DUPFD_CLOEXEC, above + 1)
    for target, source in enumerate(parked, 1):
        os.dup2(source, target)
    channel.detach()
    os.dup2(moved, above, inheritable=False)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > above:
            with contextlib.suppress(OSError):
                os.close(int(name))
    return socket.socket(fileno=above)


def apply_limits(job: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if job["file_bytes"] is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = job["file_bytes"] if hard == resource.RLIM_INFINITY else min(job["file_bytes"], hard)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def restore_signals() -> None:
    """Python ignores the first two; the program must not inherit that, nor a supervisor's handlers."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def leave_session_keyring() -> None:
    """Keys of the invoker's session are inherited like descriptors, through every namespace."""
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if number is not None:
        ctypes.CDLL(None).syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def become(argv: list[str], env: dict[str, str]) -> None:
    """Replace this process; returns only by raising."""
    try:
        os.execvpe(argv[0], argv, env)
    except FileNotFoundError:
        where = "there" if "/" in argv[0] else f"on PATH ({env.get('PATH', '')})"
        raise OSError(f"program {argv[0]!r} is not {where}, or its interpreter is not visible") from None
    except OSError as error:
        raise OSError(f"program {argv[0]!r}: {error.strerror}") from None


def run(channel: socket.socket) -> None:
    channel.sendall(HELLO)
    job, descriptors = receive_job(channel)
    try:
        listeners = open_listeners(job["listen"])
        socket.send_fds(channel, [LISTENERS], [listener.fileno() for listener in listeners])
        channel = place_descriptors(channel, descriptors)
        for listener in listeners:
            listener.detach()
        os.chdir(job["cwd"])
        apply_limits(job)
        leave_session_keyring()
        restore_signals()
        become(job["argv"], job["env"])
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            channel.sendall(FAILED + str(error).encode("utf-8", "replace"))
        os._exit(127)


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])))
