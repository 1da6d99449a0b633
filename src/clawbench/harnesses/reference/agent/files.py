"""Reading, listing, writing and editing files."""

from __future__ import annotations

from pathlib import Path

from .text import RESULT_CHARS
from .tools import Tool, ToolError

LINE_CHARS = 2_000
LISTED = 500

PATH = {"type": "string", "description": "absolute, or relative to the working directory"}


class Files:
    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    async def read(self, path: str, start: int = 1, end: int | None = None) -> str:
        raw = self._existing(path).read_bytes()
        if b"\0" in raw[:8192]:
            return f"{path} is a binary file of {len(raw)} bytes; it cannot be shown as text"
        lines = raw.decode("utf-8", "replace").splitlines()
        first = max(1, start)
        return _numbered(lines, first, min(end or len(lines), len(lines)))

    async def entries(self, path: str = ".") -> str:
        directory = self._workspace / path
        if not directory.is_dir():
            raise ToolError(f"{path} is not a directory")
        entries = sorted(directory.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
        shown = [_entry(entry) for entry in entries[:LISTED]]
        if len(entries) > LISTED:
            shown.append(f"[… {len(entries) - LISTED} more]")
        return "\n".join(shown) or "(empty)"

    async def write(self, path: str, content: str) -> str:
        file = self._workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8", "surrogatepass"))
        return f"wrote {len(content)} characters to {path}"

    async def edit(self, path: str, old: str, new: str) -> str:
        file = self._existing(path)
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        count = text.count(old) if old else 0
        if count != 1:
            found = "is empty" if not old else "does not occur" if not count else f"occurs {count} times"
            raise ToolError(
                f"`old` {found} in {path}; it must occur exactly once: quote more of the lines around it"
            )
        position = text.index(old)
        file.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
        return f"edited {path} at line {text.count(chr(10), 0, position) + 1}"

    def _existing(self, path: str) -> Path:
        file = self._workspace / path
        if file.is_dir():
            raise ToolError(f"{path} is a directory")
        if not file.is_file():
            raise ToolError(f"there is no file {path}")
        return file

    def reading_tools(self) -> list[Tool]:
        bounds = {
            "start": {"type": "integer", "description": "first line, from 1"},
            "end": {"type": "integer", "description": "last line"},
        }
        return [
            Tool(
                "read", "Read a text file, with line numbers.", self.read, {"path": PATH, **bounds}, ["path"]
            ),
            Tool("list", "List a directory.", self.entries, {"path": PATH}),
        ]

    def writing_tools(self) -> list[Tool]:
        text = {"type": "string"}
        return [
            Tool(
                "write",
                "Write a file, replacing what it held.",
                self.write,
                {"path": PATH, "content": text},
                ["path", "content"],
            ),
            Tool(
                "edit",
                "Replace `old`, which must occur exactly once in the file, by `new`.",
                self.edit,
                {"path": PATH, "old": text, "new": text},
                ["path", "old", "new"],
            ),
        ]


def _entry(path: Path) -> str:
    if path.is_dir():
        return f"{path.name}/"
    return f"{path.name} ({path.stat().st_size} bytes)" if path.exists() else f"{path.name} (broken link)"


def _numbered(lines: list[str], first: int, last: int) -> str:
    """Numbered lines as far as a result reaches, and what is left."""
    shown: list[str] = []
    room = RESULT_CHARS - 200
    for number in range(first, last + 1):
        line = f"{number:6}\t{lines[number - 1][:LINE_CHARS]}"
        room -= len(line) + 1
        if room < 0:
            shown.append(f"[cut; the file has {len(lines)} lines, read on with start={number}]")
            break
        shown.append(line)
    return "\n".join(shown) or f"(no lines here; the file has {len(lines)} lines)"
