"""The shell tool: one command, its own process group, bounded in time and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from pathlib import Path

from .text import RESULT_CHARS, cut_middle
from .tools import Tool

DEFAULT_TIMEOUT_S = 180
LONGEST_TIMEOUT_S = 1800
DRAIN_S = 0.5
"""How long output is still read after the command ended while a background child holds the pipe."""


class _Output:
    """The beginning and the end of a stream, however long it is."""

    def __init__(self) -> None:
        self._head, self._tail, self._left_out = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        room = RESULT_CHARS - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        surplus = len(self._tail) - RESULT_CHARS
        if surplus > 0:
            del self._tail[:surplus]
            self._left_out += surplus

    def text(self) -> str:
        gap = f"\n[… {self._left_out} bytes left out …]\n".encode() if self._left_out else b""
        return cut_middle((bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace"))


class Shell:
    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._program = shutil.which("bash") or "/bin/sh"

    async def run(self, command: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
        timeout_s = min(max(timeout_s, 1), LONGEST_TIMEOUT_S)
        process = await asyncio.create_subprocess_exec(
            self._program, "-c", command,
            cwd=self._workspace, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True,
        )  # fmt: skip
        output = _Output()
        reader = asyncio.create_task(_read(process, output))
        try:
            async with asyncio.timeout(timeout_s):
                code = await process.wait()
            ending = f"[exit code {code}]"
        except TimeoutError:
            _kill_group(process)
            await process.wait()
            ending = f"[ended after {timeout_s:g} s: it took too long]"
        except asyncio.CancelledError:
            _kill_group(process)
            raise
        finally:
            await asyncio.wait([reader], timeout=DRAIN_S)
            reader.cancel()
        text = output.text()
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{ending}"

    def tool(self) -> Tool:
        return Tool(
            "shell",
            "Run a shell command in the working directory; returns its output and exit code. "
            f"It is ended after timeout_s seconds (default {DEFAULT_TIMEOUT_S}).",
            self.run,
            {"command": {"type": "string"}, "timeout_s": {"type": "number"}},
            ["command"],
        )


async def _read(process: Process, output: _Output) -> None:
    assert process.stdout is not None
    while data := await process.stdout.read(65536):
        output.add(data)


def _kill_group(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
