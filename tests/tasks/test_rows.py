"""Suites by their lists, rows of SWE-bench-shaped datasets, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.tasks.datasets import load_rows
from clawbench.tasks.mirrors import find_mirror
from clawbench.tasks.predictions import Prediction, read_predictions, write_predictions
from clawbench.tasks.recipes import guessed_language, pins_of_conda, recipe_for
from clawbench.tasks.rows import Row, read_rows
from clawbench.tasks.suites import members, speaks

TEST_PATCH = """\
diff --git a/tests/auth_tests/test_forms.py b/tests/auth_tests/test_forms.py
--- a/tests/auth_tests/test_forms.py
+++ b/tests/auth_tests/test_forms.py
@@ -1 +1,2 @@
 a
+b
"""
ROW: dict[str, Any] = {
    "instance_id": "django__django-1",
    "repo": "django/django",
    "base_commit": "a" * 40,
    "problem_statement": "It is wrong.",
    "patch": "x",
    "test_patch": TEST_PATCH,
    "FAIL_TO_PASS": ["test_a (auth_tests.test_forms.T)"],
    "PASS_TO_PASS": '["test_b (auth_tests.test_forms.T)"]',
    "version": "3.1",
    "created_at": "2019-09-17T14:33:44Z",
}
CONDA = """
name: testbed
dependencies:
  - _libgcc_mutex=0.1=main
  - python=3.6.13=h12debd9_1
  - setuptools=58.0.4=py36h06a4308_0
  - pip:
      - asgiref==3.4.1
      - pylibmc==1.6.3
      - -e git+https://example.org/x#egg=x
"""


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_listed_suites_have_the_published_sizes() -> None:
    all_members = members("swe")
    assert len({member.id for member in all_members}) == 350
    assert len({member.repo for member in all_members}) == 43
    assert len(members("swe", language="rust")) == 43
    assert len(members("swe", language="python")) == 50
    for language in ("java", "go", "rust", "ts", "c++", "ruby", "php", "python"):
        assert len(members("swe-lite", language=language)) == 10
    assert {member.id for member in members("swe-lite")} <= {member.id for member in all_members}
    assert [member.id for member in members("swe", cases="django__*-9296")] == ["django__django-9296"]


@pytest.mark.parametrize(
    ("wanted", "fits"), [("js", True), ("TypeScript", True), ("JS/TS", True), ("java", False)]
)
def test_languages_go_by_several_names(wanted: str, fits: bool) -> None:
    assert speaks("JS/TS", wanted) is fits


def test_rows_are_read_from_lines_and_lists(tmp_path: Path) -> None:
    other = ROW | {"instance_id": "x-2"}
    lines = write(tmp_path / "rows.jsonl", ROW, other)
    (tmp_path / "rows.json").write_text(json.dumps([ROW]))
    assert list(read_rows(lines)) == ["django__django-1", "x-2"]
    assert read_rows(tmp_path / "rows.json")["django__django-1"].pass_to_pass == [
        "test_b (auth_tests.test_forms.T)"
    ]
    assert set(load_rows([str(tmp_path)], tmp_path)) == {"django__django-1", "x-2"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base_commit": "main"}, ("line 2", "base_commit", "Correct")),
        ({"FAIL_TO_PASS": "not json"}, ("line 2", "FAIL_TO_PASS", "JSON string")),
        ({"FAIL_TO_PASS": []}, ("line 2", "FAIL_TO_PASS")),
        ({"FAIL_TO_PASS": "[" * 100_000}, ("line 2", "FAIL_TO_PASS", "JSON string")),
        ({"hints": {"a": "\ud800"}}, ("line 2", "hints.a", "not Unicode")),
        ({"repo": "../../etc"}, ("line 2", "repo")),
        ({"instance_id": "../x"}, ("line 2", "instance_id")),
        ({"instance_id": "django__django-1"}, ("line 2", "twice")),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, change: dict[str, Any], words: tuple[str, ...]) -> None:
    file = write(tmp_path / "rows.jsonl", ROW, ROW | {"instance_id": "other-1"} | change)
    with pytest.raises(InputError) as problem:
        read_rows(file)
    assert all(word in str(problem.value) for word in (str(file), *words)), problem.value


def test_a_line_that_is_not_json_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW) + "\n{\n")
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read_rows(file)
    with pytest.raises(InputError, match="--dataset"):
        load_rows([str(tmp_path / "none.jsonl")], tmp_path)


def test_django_rows_with_and_without_their_environment() -> None:
    bare = recipe_for(Row.model_validate(ROW), "Python")
    assert (bare.test_runner, bare.setup and bare.setup.python) == ("django", "3.6")
    assert bare.test_command.split()[-1] == "auth_tests.test_forms"
    assert bare.setup
    assert bare.setup.newest == "2019-09-17"
    pinned = recipe_for(Row.model_validate(ROW | {"environment_yml": CONDA, "version": "9.9"}), "Python")
    assert pinned.setup
    assert pinned.setup.requirements == ["setuptools==58.0.4", "asgiref==3.4.1"]
    assert pins_of_conda(CONDA)[0] == "3.6"


@pytest.mark.parametrize(
    "change",
    [
        {"created_at": "yesterday"},
        *(
            {"environment_yml": text}
            for text in ("[", "a: 1", "dependencies: [python]", "dependencies: []", "3")
        ),
    ],
)
def test_a_row_that_no_environment_can_be_made_of(change: dict[str, str]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(change))}: .*django__django-1") as caught:
        recipe_for(Row.model_validate(ROW | change), "Python")
    assert caught.value.remedy


def test_other_python_rows_take_pytest_and_the_rest_their_image() -> None:
    tests = ["tests/test_x.py::test_a[b", "tests/test_y.py::C::test_d"]
    python = recipe_for(Row.model_validate(ROW | {"repo": "a/b", "FAIL_TO_PASS": tests}), "Python")
    assert (python.test_runner, python.test_command) == ("pytest", "pytest tests/test_x.py tests/test_y.py")
    assert recipe_for(Row.model_validate(ROW), "Rust").test_runner == "image"
    assert guessed_language(TEST_PATCH) == "Python"


def test_mirrors_are_found_under_their_usual_names(tmp_path: Path) -> None:
    for name in ("a/b.git", "c__d", "e+f/repo"):
        (tmp_path / name / "objects").mkdir(parents=True)
        (tmp_path / name / "HEAD").write_text("ref: refs/heads/main\n")
    assert find_mirror("a/b", [tmp_path]).name == "b.git"
    assert find_mirror("c/d", [tmp_path]).name == "c__d"
    assert find_mirror("e/f", [tmp_path]).parent.name == "e+f"
    assert find_mirror("any/thing", [tmp_path / "c__d"]).name == "c__d"
    with pytest.raises(InputError, match="git clone --mirror"):
        find_mirror("g/h", [tmp_path])


def test_predictions_survive_any_bytes(tmp_path: Path) -> None:
    patch = b"+caf\xe9\r\n".decode("utf-8", "surrogateescape")
    file = tmp_path / "predictions.jsonl"
    write_predictions(file, [Prediction(instance_id="a", model_patch=patch, model_name_or_path="m")])
    (read,) = read_predictions(file)
    assert read.patch == b"+caf\xe9\r\n"
    file.write_text('{"instance_id": "a", "model_patch": null}\n{"instance_id": "a", "model_patch": 3}\n')
    with pytest.raises(InputError, match="line 2"):
        read_predictions(file)
