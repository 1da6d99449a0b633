# ruff: noqa: E501
"""SWE-bench's own evaluator: what it leaves behind and, where docker has images, the evaluator itself."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.runner.official.evaluator import check_rows
from clawbench.runner.official.reports import read_result
from clawbench.tasks.images import choose_image, image_names
from clawbench.tasks.predictions import Prediction
from clawbench.tasks.rows import read_rows
from tests.cli.command import clawbench

ID = "owner__name-1"
PUBLISHED, PLAIN = (
    "swebench/sweb.eval.x86_64.owner_1776_name-1:latest",
    "sweb.eval.x86_64.owner__name-1:latest",
)
AT = "2026-01-02 03:04:05,678 - "
NOT_PULLED = f"{AT}INFO - Image not found locally, attempting to pull...\n{AT}ERROR - Error creating container for {ID}: 500\n"
STARTED = f"{AT}INFO - Container for {ID} created: abc\n"
REPORT = {"FAIL_TO_PASS": {"success": ["a"], "failure": ["b"]}, "PASS_TO_PASS": {"success": ["c"]}}


def test_images_are_found_by_their_row_as_published_and_as_built_here() -> None:
    assert image_names(ID) == [PUBLISHED, PLAIN]
    assert image_names(ID, "host:5000/own") == ["host:5000/own:latest", PUBLISHED, PLAIN]
    assert choose_image(ID, None, {PLAIN}) == PLAIN
    assert choose_image(ID, "own:1", {PLAIN, "own:1"}) == "own:1"
    assert choose_image(ID, None, set()) == PUBLISHED


@pytest.mark.parametrize(
    ("files", "verdict", "words"),
    [
        ({"report.json": json.dumps({ID: {"resolved": True}})}, "resolved", "says so"),
        ({"report.json": json.dumps({ID: {"resolved": False, "tests_status": REPORT}})}, "unresolved", "says so"),
        ({"report.json": '{"owner__na'}, "error", "no report"),
        ({}, "error", "no report"),
        ({"run_instance.log": NOT_PULLED}, "error", PLAIN),
        ({"run_instance.log": f"{STARTED}{AT}ERROR - Error in evaluating model: disk full\n"}, "error", "disk full"),
        ({"run_instance.log": f"{STARTED}{AT}INFO - >>>>> Patch Apply Failed:\n"}, "apply_failed", "apply"),
        ({"run_instance.log": f"{STARTED}+ >>>>> Patch Apply Failed: timed out\n"}, "error", "no report"),
        ({"test_output.txt": "…\n\nTimeout error: 1800 seconds exceeded."}, "timeout", "in time"),
    ],
)  # fmt: skip
def test_what_it_leaves_is_read(files: dict[str, str], verdict: str, words: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    prediction = Prediction(instance_id=ID, model_patch="diff", model_name_or_path="m")
    judged = read_result(prediction, tmp_path, tmp_path / "output.txt")
    assert (judged.verdict, words in judged.explanation) == (verdict, True), judged.explanation
    if verdict == "unresolved":
        assert judged.tests == {"a": "passed", "b": "failed", "c": "passed"}


def test_rows_of_an_older_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"eval_script.*--evaluator own"):
        check_rows({ID: {"instance_id": ID, "eval_script": None}})


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    row = {"instance_id": ID, "repo": "owner/name", "base_commit": "0" * 40, "problem_statement": "It fails."}
    row |= {"test_patch": "", "eval_script": "true", "log_parser": "parse_log_django", "eval_type": "x"}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({**row, "patch": "diff", "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []}))
    options = ("--gold", "--dataset", str(rows), "--output", str(tmp_path / "out"), "--evaluator", "swebench")
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    done = clawbench("eval", *options, **nowhere)
    assert done.returncode == 2, done.stdout
    lacks_extra = importlib.util.find_spec("swebench") is None
    remedy = (
        "pip install 'swebench" if lacks_extra else "DOCKER_HOST" if shutil.which("docker") else "docker.io"
    )
    assert remedy in " ".join(done.stderr.split())


def images_here() -> set[str]:
    command = ["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]
    if importlib.util.find_spec("swebench") is None or shutil.which("docker") is None:
        return set()
    return set(subprocess.run(command, capture_output=True, text=True, check=False).stdout.split())


@pytest.mark.rows
@pytest.mark.timeout(3600)
def test_both_evaluators_agree_on_every_test(tmp_path: Path) -> None:
    file = os.environ.get("CLAWBENCH_TEST_ROWS", "")
    if not (file and os.environ.get("CLAWBENCH_MIRROR")):
        pytest.skip("CLAWBENCH_TEST_ROWS and CLAWBENCH_MIRROR are not set")
    here = images_here()
    rows = [
        row for row in read_rows(Path(file)).values() if here & set(image_names(row.instance_id, row.image))
    ]
    if not rows:
        pytest.skip("docker has no image of a row, or the extra `swebench` is not installed")
    nothing = "diff --git a/N b/N\nnew file mode 100644\n--- /dev/null\n+++ b/N\n@@ -0,0 +1 @@\n+nothing\n"
    lines = [
        {"instance_id": row.instance_id, "model_name_or_path": name, "model_patch": patch}
        for row in rows
        for name, patch in (("gold", row.patch), ("no/thing", nothing), ("bad", "nonsense\n"), ("empty", ""))
    ]
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    verdicts = {which: judged(predictions, file, tmp_path / which, which) for which in ("own", "swebench")}
    assert verdicts["own"] == verdicts["swebench"]
    again = judged(predictions, file, tmp_path / "swebench", "swebench", fields=("reused",))
    assert {key: value["reused"] for key, value in again.items()} == {key: key[1] != "empty" for key in again}


def judged(
    predictions: Path,
    rows: str,
    output: Path,
    evaluator: str,
    fields: tuple[str, ...] = ("verdict", "passed"),
) -> dict[tuple[str, str], dict[str, object]]:
    options = (
        "--dataset",
        rows,
        "--output",
        str(output),
        "--evaluator",
        evaluator,
        "--workers",
        "2",
        "--json",
    )
    done = clawbench("eval", str(predictions), *options, within_s=1800)
    assert done.returncode == 0, done.stderr
    found = {}
    for entry in map(json.loads, done.stdout.splitlines()[:-1]):
        empty = entry["model_name_or_path"] == "empty"
        entry["passed"] = None if empty else {test: now == "passed" for test, now in entry["tests"].items()}
        found[entry["instance_id"], entry["model_name_or_path"]] = {name: entry[name] for name in fields}
    return found
