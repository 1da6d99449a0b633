"""Sandboxes of namespaces, made by bubblewrap: no daemon, no root, no network, no view of the host."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clawbench.errors import MissingPartError, SandboxError
from clawbench.results import Isolation
from clawbench.sandbox import inside
from clawbench.sandbox.commands import only_commands
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.handover import Handover, LauncherGoneError, readable
from clawbench.sandbox.hiding import covered
from clawbench.sandbox.interpreter import base_interpreter, interpreter_tree
from clawbench.sandbox.leftovers import remove_directory
from clawbench.sandbox.limits import watch_limits
from clawbench.sandbox.process import TreeProcess, as_exit_code
from clawbench.sandbox.protocol import Command, Limits, Mount, Process, Root
from clawbench.sandbox.root_view import Link, Opened, tree_entries
from clawbench.sandbox.starting import (
    BARE,
    START_TIMEOUT_S,
    Complaints,
    in_memory,
    killed_on_error,
    launch,
    pipe,
    start_timed_out,
)
from clawbench.sandbox.system_view import (
    HOME,
    HOSTNAME,
    SCRATCH,
    host_arguments,
    made_up_files,
    own_arguments,
)

_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")


class BubblewrapSandbox:
    """A fresh set of namespaces per start, over one private HOME and the same mounts.

    `start` must be called on a thread that lives as long as the program: the kernel ends a sandbox when
    the thread that started it ends.
    """

    name = "bwrap"
    isolation = Isolation.FULL

    def __init__(
        self,
        *,
        home: Path,
        mounts: Sequence[Mount] = (),
        hide: Sequence[Path] = (),
        guardian: Guardian | None = None,
        uid: int = 1000,
        nested_userns: bool = False,
        share_ipc: bool = False,
        interpreter: Path | None = None,
        path_first: Sequence[str] = (),
        commands: Sequence[str] | None = None,
        root: Root | None = None,
    ) -> None:
        """`nested_userns` lets programs make user namespaces of their own, as Chromium's sandbox needs."""
        self.home = home
        self._bwrap = find_bwrap()
        self._mounts = list(mounts)
        self._hide = [*hide, Path(__file__).parent.parent]
        self._guardian = guardian
        self._uid = uid
        self._nested_userns, self._share_ipc = nested_userns, share_ipc
        self._interpreter = interpreter or (root.interpreter if root else base_interpreter())
        self.python = str(self._interpreter)
        self._root = root
        self._path_first = tuple(path_first)
        self._commands = commands
        self._running: set[BubblewrapProcess] = set()
        if guardian is not None:
            guardian.watch_directory(home)

    def inside(self, path: str) -> str:
        return path

    def free_port(self, preferred: int) -> int:
        return preferred

    def mount(self, mount: Mount) -> None:
        self._mounts.append(mount)

    async def start(self, command: Command) -> Process:
        with contextlib.ExitStack() as resources:
            complaints = Complaints(resources)
            try:
                async with asyncio.timeout(START_TIMEOUT_S):
                    process = await self._start(command, complaints, resources)
            except LauncherGoneError:
                raise SandboxError(explain(complaints.read())) from None
            except TimeoutError:
                raise start_timed_out(command) from None
        self._running.add(process)
        process.on_end(lambda: self._running.discard(process))
        return process

    async def _start(
        self, command: Command, complaints: Complaints, resources: contextlib.ExitStack
    ) -> BubblewrapProcess:
        handover = resources.enter_context(contextlib.closing(Handover()))
        info, info_end = resources.enter_context(pipe())
        direct = self._spawn(command.limits, handover, complaints.write_end, info_end, resources)
        with killed_on_error(direct, self._guardian):
            launcher = await handover.hello()
            first = int(json.loads(os.read(info, 4096))["child-pid"])
            process = BubblewrapProcess(direct, first, launcher, command.limits, self._guardian)
        await launch(process, handover, command, self.environment(command), HOME, self._guardian)
        return process

    def _spawn(
        self, limits: Limits, handover: Handover, errors: int, info: int, resources: contextlib.ExitStack
    ) -> subprocess.Popen[bytes]:
        """Options go through a descriptor, so that `ps` inside does not show the host's paths, and the
        environment is empty, because the sandbox's first process shows the one bwrap was started with."""
        files = {path: in_memory(text, resources) for path, text in made_up_files(self._uid).items()}
        options = "\0".join(self.arguments(limits, files)) + "\0"
        listed = in_memory(options, resources)
        script = in_memory(Path(inside.__file__).read_text(), resources)
        channel = handover.theirs.fileno()
        argv = [self._bwrap, "--info-fd", str(info), "--args", str(listed), "--"]
        argv += [str(self._interpreter), *BARE, f"/proc/self/fd/{script}", str(channel)]
        return subprocess.Popen(
            argv,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            process_group=0,
            pass_fds=(*files.values(), listed, script, channel, info),
        )

    async def close(self) -> None:
        for process in list(self._running):
            await process.end()
        await asyncio.to_thread(remove_directory, str(self.home))
        if self._guardian is not None:
            self._guardian.forget_directory(self.home)

    def environment(self, command: Command) -> dict[str, str]:
        basic = {"HOME": HOME, "PATH": _PATH, "TMPDIR": "/tmp", "LANG": "C.UTF-8", **command.env}
        return {**basic, "PATH": ":".join((*self._path_first, basic["PATH"]))}

    def arguments(self, limits: Limits, files: dict[str, int]) -> Iterator[str]:
        """bwrap's options; `files` maps a path inside to a descriptor that holds its content."""
        features = supported_options(self._bwrap)
        yield from ("--die-with-parent", "--new-session", *_NAMESPACES)
        if not self._share_ipc:
            yield "--unshare-ipc"
        yield from ("--uid", str(self._uid), "--gid", str(self._uid), "--hostname", HOSTNAME)
        yield from ("--cap-drop", "ALL", "--clearenv")
        if not self._nested_userns and "--disable-userns" in features:
            yield "--disable-userns"
        bounded = limits.memory_mb and "--size" in features
        yield from self._tree_arguments(files) if self._root else host_arguments()
        yield from own_arguments(limits.memory_mb * 1024 * 1024 if bounded and limits.memory_mb else None)
        for path, descriptor in files.items():
            yield from ("--perms", "0644", "--ro-bind-data", str(descriptor), path)
        for mount in self._all_mounts():
            yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)
            yield from self._covers(mount)
        if self._commands is not None:
            system = self._root.tree if self._root else Path("/")
            yield from only_commands(self._commands, self._interpreter, system)
        yield from ("--remount-ro", "/")

    def _tree_arguments(self, files: Iterable[str]) -> Iterator[str]:
        assert self._root is not None
        targets = [*files, *(mount.target for mount in self._all_mounts())]
        for entry in tree_entries(self._root.tree, targets):
            match entry:
                case Opened(path):
                    yield from ("--perms", "0755", "--dir", path)
                case Link(path, to):
                    yield from ("--symlink", to, path)
                case Mount(source, target):
                    yield from ("--ro-bind", str(source), target)
                    yield from self._covers(entry)
        yield from ("--perms", "0755", "--dir", "/home")

    def _all_mounts(self) -> list[Mount]:
        tree = interpreter_tree(self._interpreter)
        python = [Mount(tree, str(tree))] if tree else []
        system = [] if self._root else [Mount(Path("/usr"), "/usr")]
        return [*system, *python, Mount(self.home, HOME, writable=True), *self._mounts]

    def _covers(self, mount: Mount) -> Iterator[str]:
        for inside_path, host_path in covered(mount, self._hide):
            if host_path.is_dir():
                yield from ("--perms", "0555", "--tmpfs", inside_path)
            elif host_path.exists():
                yield from ("--ro-bind", "/dev/null", inside_path)


class BubblewrapProcess(TreeProcess):
    """The first process of the pid namespace: the kernel ends all others with it."""

    def __init__(
        self,
        direct: subprocess.Popen[bytes],
        first: int,
        launcher: int,
        limits: Limits,
        guardian: Guardian | None,
    ) -> None:
        scratch = [f"/proc/{first}/root{path}" for path in SCRATCH]
        super().__init__(direct, first, watch_limits(limits, first, launcher, guardian, scratch))
        self._first_handle = os.pidfd_open(first)
        self.on_end(lambda: os.close(self._first_handle))

    def kill(self) -> None:
        if not self.released:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_handle, signal.SIGKILL)

    async def _await_tree(self) -> int:
        exit_code = await self._await_direct()
        # bwrap ends with the program; what the program left behind then ends with the first process.
        self.kill()
        await readable(self._first_handle)
        return as_exit_code(exit_code)


def find_bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise MissingPartError(
            "bubblewrap",
            "it makes the sandbox in which agents and browsers run",
            "Install it: apt-get install bubblewrap (or dnf install bubblewrap); "
            "`--sandbox none` runs without isolation.",
        )
    return found


@functools.cache
def supported_options(bwrap: str) -> frozenset[str]:
    listed = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    words = {word for word in (listed.stdout + listed.stderr).split() if word.startswith("--")}
    if os.stat(bwrap).st_mode & stat.S_ISUID:
        words.discard("--disable-userns")  # it refuses the option when installed setuid
    return frozenset(words)


def explain(complaint: str) -> str:
    """bwrap's own words, with what usually helps."""
    forbidden = ("uid map", "No permissions to create", "Creating new namespace failed", "loopback")
    if any(phrase in complaint for phrase in forbidden):
        remedy = (
            "This machine forbids unprivileged user namespaces: on Ubuntu 24.04 and later run "
            "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` as root; in a container start it "
            "with `--privileged` or `--security-opt seccomp=unconfined`."
        )
    else:
        remedy = "Check that every mounted path exists and is readable; `clawbench doctor` tests the sandbox."
    return f"bubblewrap could not build the sandbox: {complaint or 'it gave no reason'}. {remedy}"
