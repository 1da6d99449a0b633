"""What an agent is told: one template per kind of task, the same for every harness."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from clawbench.tasks.model import CodingTask, WebTask

TEMPLATES = Path(__file__).parent / "templates"
MY_INFO = "/my-info"
_MARKER = re.compile(r"\{\{(\w+)\}\}")


def coding_prompt(task: CodingTask, workspace: str) -> str:
    """The issue in its eight phases; `workspace` is where the agent finds the repository."""
    return _fill(
        "coding.txt",
        {
            "workspace": workspace,
            "base_commit": task.base_commit,
            "problem_statement": task.problem_statement.strip("\n"),
            "boundary": _boundary(task.problem_statement),
        },
    )


def bare_prompt(task: CodingTask) -> str:
    """The issue alone: the patch is to be written into the answer."""
    return _fill(
        "bare.txt",
        {
            "repo": task.repo,
            "base_commit": task.base_commit,
            "problem_statement": task.problem_statement.strip("\n"),
            "boundary": _boundary(task.problem_statement),
        },
    )


def web_prompt(task: WebTask, my_info: Sequence[str], directory: str = MY_INFO) -> str:
    """The instruction word for word, and every file the agent is given.

    `my_info`: paths as the agent sees them. The task's own files lie beside them, in `directory`.
    """
    described = {
        f"{directory}/{PurePosixPath(extra.path).name}": extra.description for extra in task.extra_info
    }
    lines = [f"- {path}" for path in my_info if path not in described]
    lines += [f"- {path}: {text}" if text else f"- {path}" for path, text in described.items()]
    return _fill("web.txt", {"instruction": task.instruction, "files": "\n".join(lines) or "- none"})


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Replace the template's own markers in one pass: markers in what is inserted stay as they are."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return _MARKER.sub(lambda marker: values[marker[1]], text)


def _boundary(text: str) -> str:
    """A line that the text cannot contain, so that it cannot end the block it stands in."""
    salt = 0
    while True:
        digest = hashlib.sha256(f"{salt}\n{text}".encode()).hexdigest()[:12]
        if digest not in text:
            return f"report {digest}"
        salt += 1
