from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MakeProgram = Callable[[str, str], Path]


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the whole PATH; and a cache of its own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAWBENCH_BROWSER", raising=False)
    return folder


@pytest.fixture
def make_program(only_path: Path) -> MakeProgram:
    """Put a shell script on that PATH."""

    def make(name: str, body: str) -> Path:
        program = only_path / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return program

    return make
