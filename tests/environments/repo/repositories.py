"""A repository of a test, driven by plain git."""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Repo:
    path: Path

    def git(self, *arguments: str, date: str = "2024-01-01T00:00:00+0000", stdin: bytes = b"") -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": "T", f"GIT_{role}_EMAIL": "t@example.org"}
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(
            command, cwd=self.path, env=environment, input=stdin, capture_output=True, check=False
        )
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stderr.decode()}")
        return done.stdout.decode(errors="surrogateescape").strip()

    def git_or_not(self, *arguments: str) -> None:
        """Where the command may fail."""
        with contextlib.suppress(AssertionError):
            self.git(*arguments)

    def has(self, identity: str) -> bool:
        command = ["git", "cat-file", "-e", identity]
        return subprocess.run(command, cwd=self.path, capture_output=True, check=False).returncode == 0

    def write(self, name: str, content: str | bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def commit(self, message: str, date: str = "2024-01-01T00:00:00+0000") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, date=date)
        return self.git("rev-parse", "HEAD")
