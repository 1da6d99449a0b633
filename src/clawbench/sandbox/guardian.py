"""A small process beside ours that clears up when we are killed and cannot do it ourselves."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from clawbench.errors import SandboxError
from clawbench.sandbox import guard, proctree
from clawbench.sandbox.interpreter import base_interpreter


class Guardian:
    """One per process. Whatever is watched and not forgotten is ended and removed when this process dies."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @classmethod
    def start(cls, interpreter: Path | None = None) -> Self:
        process = subprocess.Popen(
            [str(interpreter or base_interpreter()), "-I", "-S", "-E", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )
        assert process.stdout is not None
        with process.stdout:
            ready = process.stdout.readline()
        guardian = cls(process)
        if not ready:
            guardian.close()
            raise SandboxError(
                "The guardian process did not start. Without it a killed run would leave processes behind; "
                f"check that {process.args} runs."  # type: ignore[str-bytes-safe]
            )
        return guardian

    @property
    def pid(self) -> int:
        return self._process.pid

    def watch_process(self, pid: int) -> None:
        """End this process and all below it."""
        entry = proctree.read_entry(pid)
        if entry is not None:
            self._send("watch", "process", str(pid), started=entry.started)

    def watch_marker(self, marker: str) -> None:
        """End every process whose environment holds `NAME=value`."""
        self._send("watch", "marker", marker)

    def watch_directory(self, path: Path) -> None:
        self._send("watch", "directory", str(path.absolute()))

    def watch_cgroup(self, path: Path) -> None:
        self._send("watch", "cgroup", str(path))

    def watch_record(self, command: Sequence[str]) -> None:
        """Run this command at the end, to bring to an end what this process had begun to write."""
        self._send("watch", "record", json.dumps(command))

    def forget_record(self, command: Sequence[str]) -> None:
        self._send("forget", "record", json.dumps(command))

    def forget_process(self, pid: int) -> None:
        self._send("forget", "process", str(pid))

    def forget_marker(self, marker: str) -> None:
        self._send("forget", "marker", marker)

    def forget_directory(self, path: Path) -> None:
        self._send("forget", "directory", str(path.absolute()))

    def forget_cgroup(self, path: Path) -> None:
        self._send("forget", "cgroup", str(path))

    def close(self) -> None:
        """Leave in peace: what is still watched is left alone."""
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._write({"do": "quit"})
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait()

    def _send(self, action: str, kind: str, name: str, **more: Any) -> None:
        try:
            self._write({"do": action, "kind": kind, "name": name, **more})
        except (BrokenPipeError, ValueError):
            if action == "watch":
                raise SandboxError(
                    "The guardian process is gone, so a killed run would leave processes behind. Start again."
                ) from None

    def _write(self, item: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(item).encode() + b"\n")
        self._process.stdin.flush()
