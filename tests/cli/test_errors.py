"""What a user sees when something given cannot be used: one message, exit code 2, nothing started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import clawbench

WEB: dict[str, Any] = {
    "instruction": "Buy tea",
    "eval_schema": {"url_pattern": "orders$", "method": "POST"},
    "time_limit": 1,
    "site": "teahouse",
}


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    message = result.stderr.strip()
    assert message.count("error:") == 1
    for word in words:
        assert word in message, message


def task(tmp_path: Path, **changes: Any) -> str:
    directory = tmp_path / "suite" / "task"
    directory.mkdir(parents=True)
    (directory / "task.json").write_text(json.dumps({**WEB, **changes}))
    return str(directory)


def run(tmp_path: Path, reference: str, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    result = clawbench("run", reference, "--output", str(tmp_path / "runs"), *more, **environment)
    assert not list(tmp_path.glob("runs/*")), "nothing may have started"
    return result


def test_a_bad_regex(tmp_path: Path) -> None:
    reference = task(tmp_path, eval_schema={"url_pattern": "orders(", "method": "POST"})
    refused(
        run(tmp_path, reference, "--model", "scripted:x"), "task.json", "eval_schema.url_pattern", "Correct"
    )


def test_a_missing_field(tmp_path: Path) -> None:
    directory = Path(task(tmp_path))
    (directory / "task.json").write_text(json.dumps({k: v for k, v in WEB.items() if k != "time_limit"}))
    refused(run(tmp_path, str(directory), "--model", "scripted:x"), "task.json", "time_limit", "is missing")


def test_a_path_that_escapes_its_directory(tmp_path: Path) -> None:
    reference = task(tmp_path, extra_info=[{"path": "../../x", "description": "d"}])
    refused(
        run(tmp_path, reference, "--model", "scripted:x"), "extra_info.0.path", "leaves the task's directory"
    )


def test_an_unknown_api_type(tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text("m: {base_url: https://x.example, api_type: carrier-pigeon, api_key: k}")
    result = run(tmp_path, task(tmp_path), "--model", "m", "--models", str(models))
    refused(result, str(models), "m.api_type", "openai-completions")


def test_a_model_without_a_key(tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text("m: {base_url: https://x.example, api_type: openai-completions}")
    result = run(tmp_path, task(tmp_path), "--model", "m", "--models", str(models))
    refused(result, str(models), "m.api_key", "is missing")


def test_a_missing_browser(tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("description: d\nrules: [{when: {turn: 0}, text: hello}]\n")
    result = run(
        tmp_path,
        task(tmp_path),
        "--model",
        f"scripted:{policy}",
        CLAWBENCH_BROWSER=str(tmp_path / "no-such-browser"),
    )
    refused(result, "no-such-browser", "CLAWBENCH_BROWSER")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no-such-task", "--model", "m"], ["no-such-task", "tasks list"]),
        (["run", "TASK", "--model", "scripted:nowhere"], ["nowhere"]),
        (["run", "TASK", "--model", "m", "--models", "/nowhere.yaml"], ["/nowhere.yaml"]),
        (["run", "TASK", "--model", "scripted:POLICY", "--harness", "no-such"], ["no-such", "reference"]),
        (["run", "TASK", "--model", "scripted:POLICY", "--sandbox", "jail"], ["--sandbox", "bwrap"]),
        (["tasks", "list", "--suite", "no-such"], ["--suite", "demo"]),
        (["models", "list", "--models", "/nowhere.yaml"], ["/nowhere.yaml"]),
    ],
)
def test_what_cannot_be_found_is_named(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("description: d\nrules: [{when: {turn: 0}, text: hello}]\n")
    known = {"TASK": task(tmp_path), "scripted:POLICY": f"scripted:{policy}"}
    refused(clawbench(*(known.get(a, a) for a in arguments)), *words)


LONG = "a" * 300


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", LONG, "--model", "m"], [LONG, "tasks list"]),
        (["tasks", "show", LONG], [LONG, "File name too long"]),
        (["run", "TASK", "--model", f"scripted:{LONG}"], [LONG]),
        (["run", "TASK", "--model", "scripted:POLICY", "--rootfs", "SELF"], ["--rootfs", "mmdebstrap"]),
        (["run", "TASK", "--model", "scripted:POLICY", "--rootfs", LONG], ["--rootfs", "mmdebstrap"]),
        (["tasks", "show", "SELF"], ["self", "no task"]),
        (["replay", LONG], [LONG, "File name too long"]),
        (["tasks", "list", "--dataset", LONG], ["--dataset", LONG]),
        (["tasks", "list", "--dataset", "~no-such-user/x"], ["--dataset", "home directory"]),
        (["tasks", "list", "--cases", "zzz"], ["--cases", "no task matches"]),
        (["eval", "--suite", "demo", "--gold", "--cases", "zzz"], ["--cases", "no task matches"]),
    ],
)
def test_odd_names(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    (tmp_path / "self").symlink_to("self")
    policy = tmp_path / "p.yaml"
    policy.write_text("description: d\nrules: [{when: {turn: 0}, text: hello}]\n")
    known = {"TASK": task(tmp_path), "scripted:POLICY": f"scripted:{policy}", "SELF": str(tmp_path / "self")}
    refused(clawbench(*(known.get(a, a) for a in arguments)), *words)


def test_what_a_task_names_must_be_there(tmp_path: Path) -> None:
    reference = task(tmp_path, site="no-such-site")
    refused(run(tmp_path, reference, "--model", "scripted:x"), "task.json: site: ", "teahouse")
    coding = {
        **{"repo": "a/b", "base_commit": "0" * 40, "problem_statement": "x", "language": "python"},
        **{"test_command": "x", "FAIL_TO_PASS": ["t"], "repo_source": {"mirror": "m"}, "test_runner": "nope"},
    }
    (tmp_path / "suite" / "coding").mkdir()
    (tmp_path / "suite" / "coding" / "task.json").write_text(json.dumps(coding))
    found = clawbench("tasks", "validate", str(tmp_path / "suite"))
    assert found.returncode == 2
    assert "0 valid, 2 broken" in found.stdout
    assert "task.json: site: no bundled site is called 'no-such-site'" in found.stderr
    assert "task.json: test_runner: no test runner called 'nope'" in found.stderr


def test_validate_goes_on_after_odd_paths(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to("self")
    odd = (LONG, str(tmp_path / "self"), "/dev/null/x", str(tmp_path / "nowhere"))
    found = clawbench("tasks", "validate", *odd, task(tmp_path))
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    assert "1 valid, 4 broken" in found.stdout


def test_texts_that_look_like_markup_or_are_no_text_are_shown_as_they_are(tmp_path: Path) -> None:
    directory = Path(task(tmp_path, instruction="[/b] Buy", **{"[/x]": 1}))
    odd = directory.rename(directory.with_name("[b]\udcff"))
    shown = clawbench("tasks", "show", str(odd))
    assert shown.returncode == 0, shown.stderr
    for text in ("[/b] Buy", "[/x]", "[b]\\udcff"):
        assert text in shown.stdout
    read = json.loads(clawbench("tasks", "show", str(odd), "--json", PYTHONIOENCODING="ascii").stdout)
    assert read["id"] == "[b]\udcff"
    models = tmp_path / "models.yaml"
    models.write_text("'[/b] é': {base_url: http://x.invalid, api_type: openai-completions, api_key: none}")
    assert "[/b] é" in clawbench("models", "list", "--models", str(models), COLUMNS="200").stdout
    models.write_text('"\\ud800": {base_url: "http://x.invalid", api_type: openai-completions, api_key: k}')
    refused(clawbench("models", "list", "--models", str(models)), "is not Unicode")


def test_a_value_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    deep: Any = 0
    for _ in range(900):
        deep = [deep]
    reference = task(tmp_path, metadata={"a": "\ud800"})
    refused(clawbench("tasks", "show", reference), "task.json: metadata.a: is not Unicode")
    (Path(reference) / "task.json").write_text(json.dumps({**WEB, "metadata": {"a": deep}}))
    refused(clawbench("tasks", "show", reference), "task.json: metadata.a.0", "nested more than 100 deep")


def test_validate_names_every_broken_task_and_counts(tmp_path: Path) -> None:
    for name, content in {"a": WEB, "b": {}, "c": {**WEB, "time_limit": -1}}.items():
        (tmp_path / "s" / name).mkdir(parents=True)
        (tmp_path / "s" / name / "task.json").write_text(json.dumps(content))
    result = clawbench("tasks", "validate", str(tmp_path / "s"))
    assert result.returncode == 2
    assert "1 valid, 2 broken" in result.stdout
    assert str(tmp_path / "s" / "b" / "task.json") in result.stderr
    assert "time_limit" in result.stderr


def test_validate_looks_at_everything_bundled() -> None:
    result = clawbench("tasks", "validate")
    assert result.returncode == 0, result.stderr
    assert " 0 broken" in result.stdout


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    policy = tmp_path / "p.yaml"
    policy.write_text("description: d\nrules: [{when: {turn: 0}, text: hello}]\n")
    result = clawbench(
        "run", task(tmp_path), "--model", f"scripted:{policy}", "--output", str(blocker / "runs")
    )
    refused(result, "--output", str(blocker))


def test_a_directory_that_may_not_be_entered(tmp_path: Path) -> None:
    """Also where root runs the tests: without the capabilities that let it pass."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    without = [
        "setpriv",
        *(f"--{kind}=-dac_override,-dac_read_search" for kind in ("bounding-set", "inh-caps")),
    ]
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    command = [sys.executable, "-m", "clawbench", "run", str(closed / "task"), "--model", "scripted:x"]
    words = [*without, *command] if os.geteuid() == 0 else command
    refused(subprocess.run(words, capture_output=True, text=True, check=False), str(closed), "permissions")
