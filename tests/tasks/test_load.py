import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from clawbench.errors import InputError
from clawbench.tasks import (
    Broken,
    CodingTask,
    WebTask,
    bundled_suites,
    content_hash,
    find_task,
    load_suite,
    load_task,
    task_schema,
)

WEB: dict[str, Any] = {
    "instruction": "Buy tea",
    "eval_schema": {"url_pattern": "shop\\.example/orders$", "method": "POST"},
    "time_limit": 5,
}
CODING: dict[str, Any] = {
    "repo": "a/b",
    "base_commit": "0" * 40,
    "problem_statement": "It fails",
    "language": "python",
    "test_command": "pytest",
    "FAIL_TO_PASS": ["t"],
    "PASS_TO_PASS": [],
    "repo_source": {"mirror": "/srv/mirror.git"},
}


PATTERN, URL_PATTERN = WEB["eval_schema"], "eval_schema.url_pattern"


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


def write(directory: Path, task: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "task.json").write_text(task if isinstance(task, str) else json.dumps(task))
    return directory


def problem(directory: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_task(directory)
    assert str(directory / "task.json") in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_web_and_coding_tasks_load_and_keep_unknown_fields(tmp_path: Path) -> None:
    web = load_task(write(tmp_path / "suite" / "w", {**WEB, "difficulty": "hard"}))
    coding = load_task(write(tmp_path / "suite" / "c", CODING))
    assert isinstance(web, WebTask)
    assert isinstance(coding, CodingTask)
    assert (web.suite, web.id) == ("suite", "w")
    assert web.model_dump()["difficulty"] == "hard"
    assert coding.fail_to_pass == ["t"]
    assert content_hash(web) != content_hash(coding)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        (
            {"eval_schema": {"url_pattern": "(", "method": "POST"}},
            "eval_schema.url_pattern",
            "regular expression",
        ),
        ({"eval_schema": {"url_pattern": "x", "method": "SEND"}}, "eval_schema.method", "POST"),
        ({"time_limit": 0}, "time_limit", "greater than 0"),
        ({"instruction": ""}, "instruction", "at least 1"),
        ({"extra_info": [{"path": "../secret.txt"}]}, "extra_info.0.path", "leaves the task's directory"),
        ({"extra_info": [{"path": "/etc/passwd"}]}, "extra_info.0.path", "leaves the task's directory"),
        ({"extra_info": [{"path": "none.txt"}]}, "extra_info.0.path", "does not exist"),
        ({"expect": [{"path": "cookies.x"}]}, "expect.0.path", "match"),
        ({"expect": [{"path": "body.x", "op": "regex", "value": "["}]}, "expect.0.value", "regular"),
        ({"expect": [{"path": "body.x", "op": "one_of", "value": 1}]}, "expect.0.value", "list"),
        ({"expect": [{"path": "body.x", "op": "one_of"}]}, "expect.0.value", "list"),
        ({"expect": [{"path": "body.x", "op": "set"}]}, "expect.0.value", "list"),
        ({"expect": [{"path": "body.x", "op": "regex"}]}, "expect.0.value", "string"),
        ({"expect": [{"path": "body.x", "op": "number"}]}, "expect.0.value", "finite"),
        ({"expect": [{"path": "body.x", "op": "number", "value": 10**400}]}, "expect.0.value", "finite"),
        ({"expect": [{"path": "body.x", "op": "number", "value": float("nan")}]}, "expect.0.value", "finite"),
        ({"expect": [{"path": "body["}]}, "expect.0.path", "cannot be read at '['"),
        ({"expect": [{"path": "body.a..b"}]}, "expect.0.path", "cannot be read at '..b'"),
        ({"eval_schema": PATTERN | {"url_pattern": "a{99999999999999999999}"}}, URL_PATTERN, "regular"),
        ({"eval_schema": PATTERN | {"url_pattern": "(" * 5000 + ")" * 5000}}, URL_PATTERN, "regular"),
        ({"metadata": {"a": ["\ud800"]}}, "metadata.a.0", "not Unicode"),
        ({"metadata": {"\ud800": 1}}, "metadata.\\ud800", "not Unicode"),
        ({"more": nested(900)}, "more" + ".0" * 99, "nested more than 100 deep"),
    ],
)
def test_a_bad_web_task_is_named_by_file_and_field(
    tmp_path: Path, change: dict[str, Any], field: str, words: str
) -> None:
    error = problem(write(tmp_path / "t", {**WEB, **change}))
    assert error.field == field
    assert words in error.problem


@pytest.mark.parametrize("field", ["instruction", "eval_schema", "time_limit"])
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    error = problem(write(tmp_path / "t", {k: v for k, v in WEB.items() if k != field}))
    assert error.field == field
    assert "is missing" in error.problem


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    directory = write(tmp_path / "t", {**WEB, "extra_info": [{"path": "cv.txt"}]})
    (tmp_path / "outside.txt").write_text("secret")
    (directory / "cv.txt").symlink_to(tmp_path / "outside.txt")
    assert "through a link" in problem(directory).problem


@pytest.mark.parametrize(
    ("text", "words"), [("{", "is not JSON"), ("[]", "is not a JSON object"), ("{}", "neither a web task")]
)
def test_files_that_are_no_task(tmp_path: Path, text: str, words: str) -> None:
    assert words in problem(write(tmp_path / "t", text)).problem


def test_bad_coding_tasks(tmp_path: Path) -> None:
    bad = {**CODING, "base_commit": "main"}
    assert problem(write(tmp_path / "a", bad)).field == "base_commit"
    both = {**CODING, "repo_source": {"mirror": "x", "history": "y"}}
    assert "exactly one" in problem(write(tmp_path / "b", both)).problem
    for mirror in ("a\0b", ""):
        odd = {**CODING, "repo_source": {"mirror": mirror}}
        assert problem(write(tmp_path / "c", odd)).field == "repo_source.mirror"


def test_a_broken_task_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "suite" / "a", WEB)
    write(tmp_path / "suite" / "b", "{")
    write(tmp_path / "suite" / "c", {**WEB, "eval_schema": PATTERN | {"url_pattern": "(" * 5000}})
    write(tmp_path / "suite" / "d", WEB)
    (tmp_path / "suite" / "e").mkdir()
    (tmp_path / "suite" / "e" / "task.json").symlink_to("task.json")
    good, *bad, last = load_suite("suite", tmp_path)
    found = [good, *bad, last]
    assert [entry.id for entry in found if isinstance(entry, WebTask)] == ["a", "d"]
    assert [entry.id for entry in found if isinstance(entry, Broken)] == ["b", "c", "e"]


def test_find_by_path_by_suite_and_id_and_by_id(tmp_path: Path) -> None:
    write(tmp_path / "suite" / "a", WEB)
    for reference in (str(tmp_path / "suite" / "a"), "suite/a", "a"):
        assert find_task(reference, tmp_path).id == "a"
    (tmp_path / "self").symlink_to("self")
    odd = ("a" * 300, "a/" * 3000, "a\0b", str(tmp_path / "self"), str(tmp_path / "self" / "task"))
    for reference in ("b", "../suite/a", "", "/nowhere", *odd):
        with pytest.raises(InputError):
            find_task(reference, tmp_path)


@pytest.mark.parametrize("name", ["a" * 300, "self", "self/task", "a\0b"])
def test_a_path_that_cannot_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "self").symlink_to("self")
    with pytest.raises(InputError) as caught:
        load_task(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


def test_an_attachment_in_a_circle(tmp_path: Path) -> None:
    directory = write(tmp_path / "t", {**WEB, "extra_info": [{"path": "cv.txt"}]})
    (directory / "cv.txt").symlink_to("cv.txt")
    assert problem(directory).field == "extra_info.0.path"


def test_every_bundled_task_loads_and_fits_the_exported_schema() -> None:
    schema = task_schema()
    for suite in bundled_suites():
        for task in load_suite(suite):
            assert not isinstance(task, Broken), task
            raw = json.loads((task.directory / "task.json").read_text())
            jsonschema.validate(raw, schema)


def test_the_schema_refuses_what_loading_refuses() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**WEB, "time_limit": 0}, task_schema("web"))
