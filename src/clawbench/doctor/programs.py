"""Asking programs what they are, and remembering the answers that are slow to get."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from clawbench.results.files import write_json

_PATIENCE_S = 20.0
_remembering = Lock()


@dataclass(frozen=True)
class Answer:
    code: int
    text: str
    """Standard output and error together, as programs disagree on where a version belongs."""

    @property
    def ok(self) -> bool:
        return self.code == 0


def ask(*argv: str | Path, patience_s: float = _PATIENCE_S) -> Answer:
    """Run a program to its end; one that cannot start or hangs is an answer too."""
    try:
        done = subprocess.run(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            timeout=patience_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(124, f"no answer within {patience_s:g} s")
    except OSError as error:
        return Answer(127, error.strerror or str(error))
    return Answer(done.returncode, done.stdout.decode(errors="replace").strip())


def find_program(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def version_in(text: str) -> tuple[int, ...] | None:
    """The first dotted number in a program's answer."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(number) for number in found[0].split(".")) if found else None


def remembered(question: str, program: Path, find_out: Callable[[], str | None]) -> str | None:
    """`find_out()`, asked once per installed file; None (it failed) is never remembered."""
    key = f"{question} {program.resolve()}"
    state = program.stat()
    mark = [state.st_mtime_ns, state.st_size]
    entry = _recall().get(key)
    if isinstance(entry, dict) and entry.get("mark") == mark and isinstance(entry.get("answer"), str):
        return str(entry["answer"])
    answer = find_out()
    if answer is not None:
        with _remembering, contextlib.suppress(OSError):
            path = _memory()
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, {**_recall(), key: {"mark": mark, "answer": answer}})
    return answer


def _memory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/nonexistent")) / ".cache"
    return Path(base) / "clawbench" / "doctor.json"


def _recall() -> dict[str, Any]:
    try:
        memory = json.loads(_memory().read_bytes())
    except (OSError, ValueError):
        return {}
    return memory if isinstance(memory, dict) else {}
