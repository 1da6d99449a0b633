"""The two tasks of a check: one line of a file, one button of a page."""

from __future__ import annotations

from pathlib import Path

from clawbench.environments.repo import create_bare
from clawbench.harnesses.rehearsal import Edit, Press
from clawbench.runner.stages import WORKSPACE
from clawbench.tasks import CodingTask, WebTask

SUITE = "check"
EDIT = Edit(f"{WORKSPACE}/settings.txt", "colour = grey", "colour = green")
PRESS = Press("http://doorbell.example/", "Ring the bell")
_FILES = {
    "settings.txt": f"size = 3\n{EDIT.old}\n",
    "tests/colour.sh": f'grep -qx "{EDIT.new}" settings.txt\n',
    "tests/size.sh": 'grep -qx "size = 3" settings.txt\n',
}
_MINUTES = 3


async def coding_task(directory: Path) -> CodingTask:
    """A repository of one commit, made here, and a test that fails until one line is changed."""
    repository = await create_bare(directory / "settings.git", "0" * 40)
    await repository.run("fast-import", "--quiet", stdin=_history().encode())
    task = CodingTask(
        repo="example/settings",
        base_commit=await repository.line("rev-parse", "main"),
        problem_statement=f"The colour is wrong\n\nIn settings.txt it should say `{EDIT.new}`.\n",
        language="text",
        test_command="sh",
        test_runner="exit-code",
        fail_to_pass=["tests/colour.sh"],
        pass_to_pass=["tests/size.sh"],
        repo_source={"mirror": str(repository.git_dir)},
        time_limit=_MINUTES,
    )
    task.locate(SUITE, "coding", directory)
    return task


def web_task(directory: Path) -> WebTask:
    """A page with a button; pressing it is the final request."""
    task = WebTask(
        instruction=f"Open {PRESS.url} and press the button “{PRESS.label}”.",
        eval_schema={"url_pattern": r"doorbell\.example/api/rings$", "method": "POST"},
        expect=[{"path": "body.door", "value": "front"}, {"path": "body.times", "value": 1}],
        site="doorbell",
        time_limit=_MINUTES,
    )
    task.locate(SUITE, "web", directory)
    return task


def _history() -> str:
    stream = "commit refs/heads/main\ncommitter Clawbench <check@clawbench.invalid> 1700000000 +0000\n"
    stream += _data("Begin\n")
    for path, content in _FILES.items():
        stream += f"M 100644 inline {path}\n{_data(content)}"
    return stream


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
