"""The commands that a program may read, and the help."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.command import clawbench


def test_tasks_as_json() -> None:
    rows = json.loads(clawbench("tasks", "list", "--json").stdout)
    assert {row["kind"] for row in rows if row["suite"] == "demo"} == {"web", "coding"}
    shown = json.loads(clawbench("tasks", "show", rows[0]["id"], "--json").stdout)
    assert shown["id"] == rows[0]["id"]


@pytest.mark.parametrize("kind", ["web", "coding", "task", "run"])
def test_schemas_are_valid_json_schemas(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(clawbench("tasks", "schema", kind).stdout))


def test_harnesses_as_json() -> None:
    rows = json.loads(clawbench("harness", "list", "--json").stdout)
    assert {"reference", "null"} <= {row["name"] for row in rows}


def test_models_list_shows_no_key_and_an_unknown_price_as_unknown(tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(
        "mystery-9: {base_url: 'http://127.0.0.1:9/v1', api_type: openai-completions, api_key: sk-planted}"
    )
    table = clawbench("models", "list", "--models", str(models), COLUMNS="200")
    listed = clawbench("models", "list", "--models", str(models), "--json")
    assert "unknown" in table.stdout
    assert "sk-planted" not in table.stdout + listed.stdout
    assert json.loads(listed.stdout)[0]["price"] is None


def test_models_check_says_which_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("description: d\nrules: [{when: {turn: 0}, text: ready}]\n")
    models = tmp_path / "models.yaml"
    models.write_text(
        "dead: {base_url: 'http://127.0.0.1:9/v1', api_type: openai-completions, api_key: sk-planted}\n"
        "alive: {base_url: 'scripted:p.yaml', api_type: openai-completions}\n"
    )
    result = clawbench("models", "check", "--models", str(models), "--json")
    problems = {row["name"]: row["problem"] for row in json.loads(result.stdout)}
    assert result.returncode == 1
    assert problems["alive"] is None
    assert problems["dead"]
    assert "sk-planted" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "command",
    [[], ["run"], ["demo"], ["doctor"], ["tasks"], ["tasks", "list"], ["models", "check"], ["harness"]],
)
def test_every_command_explains_itself(command: list[str]) -> None:
    result = clawbench(*command, "-h")
    assert result.returncode == 0
    assert len(result.stdout) > 200


def test_the_rows_of_a_dataset_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = {"instance_id": "some__where-1", "repo": "some/where", "base_commit": "a" * 40, "patch": ""}
    row |= {"problem_statement": "It breaks.\nOften.", "test_patch": "--- a/t.rs\n+++ b/t.rs\n"}
    file.write_text(json.dumps({**row, "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": []}))
    (listed,) = json.loads(clawbench("tasks", "list", "--dataset", str(file), "--json").stdout)
    assert listed["id"] == "some__where-1"
    assert listed["about"] == "It breaks."
    assert listed["language"] == "Rust"


def test_models_are_listed_without_their_keys(tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(
        "m: {base_url: https://x.example, api_type: openai-completions, api_key: '${NOT_THERE_AT_ALL}'}"
    )
    done = clawbench("models", "list", "--json", "--models", str(models))
    assert [(entry["name"], entry["keys"]) for entry in json.loads(done.stdout)] == [("m", 1)]
    assert "NOT_THERE_AT_ALL is not set" in clawbench("models", "check", "--models", str(models)).stderr


def test_a_run_that_was_stopped_says_why(tmp_path: Path) -> None:
    words = ("run", "demo/001-coding-bugfix-strata", "--model", "scripted:solve", "--max-calls", "1")
    done = clawbench(*words, "--output", str(tmp_path))
    assert done.returncode == 0
    assert "stopped by budget" in done.stdout
    assert "all 1 model calls used" in done.stdout
