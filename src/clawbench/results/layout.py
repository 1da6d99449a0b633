"""Names of the files in a run directory, each defined here and nowhere else."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path


def slug(name: str) -> str:
    """A name that is safe in a path: characters outside [A-Za-z0-9._-] become '_', a leading dot too."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return "_" + safe[1:] if safe.startswith(".") else safe or "_"


def claim(parent: Path, name: str) -> Path:
    """The directory for `name` below `parent`, with a short hash where another name has the same slug."""
    for candidate in (slug(name), f"{slug(name)}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"):
        path = parent / candidate
        path.mkdir(parents=True, exist_ok=True)
        owner = path / ".name"
        try:
            with owner.open("x", encoding="utf-8") as file:
                file.write(name)
        except FileExistsError:
            if owner.read_text(encoding="utf-8") != name:
                continue
        return path
    raise AssertionError(f"two names with one hash: {name!r}")


@dataclass(frozen=True)
class RunDirectory:
    """The files of one run."""

    path: Path

    @classmethod
    def create(
        cls, output: Path, *, batch: str, suite: str, task: str, harness: str, model: str
    ) -> RunDirectory:
        """Make the directory of the next attempt of this harness and model at this task."""
        parent = output.absolute()
        parent.mkdir(parents=True, exist_ok=True)
        for name in (batch, suite, task, f"{harness}--{model}"):
            parent = claim(parent, name)
        attempt = 1
        while True:
            path = parent / str(attempt)
            try:
                path.mkdir()
            except FileExistsError:
                attempt += 1
                continue
            run = cls(path)
            run.data.mkdir()
            run.harness.mkdir()
            return run

    @property
    def record(self) -> Path:
        return self.path / "run.json"

    @property
    def reserve(self) -> Path:
        """Takes up room for the record's last words while the run goes on."""
        return self.path / ".reserve"

    @property
    def eval_schema(self) -> Path:
        return self.path / "eval-schema.json"

    @property
    def prompt(self) -> Path:
        return self.path / "prompt.txt"

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def actions(self) -> Path:
        return self.data / "actions.jsonl"

    @property
    def requests(self) -> Path:
        return self.data / "requests.jsonl"

    @property
    def websocket(self) -> Path:
        """Frames of WebSockets and messages of EventSources; absent if there were none."""
        return self.data / "websocket.jsonl"

    @property
    def messages(self) -> Path:
        return self.data / "agent-messages.jsonl"

    @property
    def screenshots(self) -> Path:
        return self.data / "screenshots"

    @property
    def recording(self) -> Path:
        return self.data / "recording.mp4"

    @property
    def interception(self) -> Path:
        return self.data / "interception.json"

    @property
    def llm_calls(self) -> Path:
        return self.data / "llm-calls.jsonl"

    @property
    def open_calls(self) -> Path:
        """A file for each model call under way; what is left there was cut off with its run."""
        return self.data / "llm-calls.open"

    @property
    def relay_log(self) -> Path:
        """Every CDP command the agent sent through the relay, with what was refused and why."""
        return self.data / "cdp-commands.jsonl"

    @property
    def browser_log(self) -> Path:
        """What the browser session had to say; absent if nothing."""
        return self.data / "browser.log"

    @property
    def patch(self) -> Path:
        return self.data / "git.patch"

    @property
    def raw_patch(self) -> Path:
        return self.data / "git.patch.raw"

    @property
    def test_report(self) -> Path:
        return self.data / "tests.json"

    @property
    def harness(self) -> Path:
        return self.path / "harness"

    def present(self) -> dict[str, int]:
        """Relative name and size of every file that exists now, but the record itself and the screenshots."""
        own = (self.record, *self.reserve.glob("*"))
        files = (p for p in sorted(self.path.rglob("*")) if p.is_file() and p not in own)
        return {
            str(p.relative_to(self.path)): p.stat().st_size for p in files if p.parent != self.screenshots
        }

    def screenshot_count(self) -> int:
        return sum(1 for _ in self.screenshots.glob("*.png"))

    def drop_unfinished(self) -> None:
        """Remove what a killed writer left beside the files it was about to replace."""
        for path in self.data.rglob(".*"):
            if path.is_file():
                path.unlink()

    def drop_empty_logs(self) -> None:
        """Remove log files in which nothing stands: their absence says the same."""
        for path in (self.browser_log, *self.harness.iterdir()):
            if path.is_file() and not path.is_symlink() and path.stat().st_size == 0:
                path.unlink()
