"""From a row to a task that can be run here: which environment, which command, which runner."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from clawbench.errors import InputError
from clawbench.results import write_atomic
from clawbench.tasks.load import TASK_FILE
from clawbench.tasks.model import CodingTask, RepoSource
from clawbench.tasks.rows import Row
from clawbench.tasks.setup import Setup

_TEST_OUTPUT = re.compile(r"Start Test Output'\n(.*?)\n:? ?'?>* ?.*End Test Output", re.DOTALL)
_DJANGO_PYTHON = {"3.0": "3.6", "3.1": "3.6", "3.2": "3.6", "4.0": "3.8", "4.1": "3.9", "4.2": "3.9"}
_PYTHON_BY_YEAR = {"2017": "3.6", "2018": "3.6", "2019": "3.7", "2020": "3.8", "2021": "3.9", "2022": "3.9"}
_NOT_FROM_AN_INDEX = frozenset(("python", "pip", "pylibmc", "pywatchman"))


@dataclass(frozen=True)
class Recipe:
    """What a row alone does not say in a form we can use."""

    test_runner: str
    test_command: str
    setup: Setup | None


def task_of_row(row: Row, mirror: Path, *, suite: str, language: str | None, directory: Path) -> CodingTask:
    """The coding task of a row; `mirror` is a repository that has its base commit.

    It is kept as a task of its own in `directory`, where a later replay of a run finds it.
    """
    recipe = recipe_for(row, language)
    task = CodingTask(
        repo=row.repo,
        base_commit=row.base_commit,
        problem_statement=row.problem_statement,
        language=language or row.language or guessed_language(row.test_patch),
        test_command=recipe.test_command,
        test_runner=recipe.test_runner,
        fail_to_pass=row.fail_to_pass,
        pass_to_pass=row.pass_to_pass,
        repo_source=RepoSource(mirror=str(mirror)),
        setup=recipe.setup,
        patch=row.patch,
        test_patch=row.test_patch,
    )
    kept = directory / suite / row.instance_id
    kept.mkdir(parents=True, exist_ok=True)
    text = task.model_dump_json(by_alias=True, indent=2) + "\n"
    file = kept / TASK_FILE
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        write_atomic(file, text)
    task.locate(suite, row.instance_id, kept)
    return task


def recipe_for(row: Row, language: str | None = None) -> Recipe:
    if (language or row.language or guessed_language(row.test_patch)).lower() != "python":
        given = _TEST_OUTPUT.search(row.eval_script or "")
        return Recipe("image", given[1].strip() if given else "as its image says", None)
    if row.repo == "django/django":
        command = f"./tests/runtests.py --settings=test_sqlite {shlex.join(_django_labels(row))}"
        return Recipe("django", command, _python_setup(row, install=False))
    return Recipe("pytest", shlex.join(["pytest", *_pytest_files(row)]), _python_setup(row, install=True))


def guessed_language(patch: str) -> str:
    names = {".py": "Python", ".go": "Go", ".rs": "Rust", ".java": "Java", ".rb": "Ruby", ".php": "PHP"}
    names |= {".js": "JS/TS", ".ts": "JS/TS", ".tsx": "JS/TS", ".c": "C/C++", ".cpp": "C/C++", ".cc": "C/C++"}
    found = [
        names[suffix] for file in changed_files(patch) if (suffix := PurePosixPath(file).suffix) in names
    ]
    return max(set(found), key=found.count) if found else "unknown"


def changed_files(patch: str) -> list[str]:
    """New names of the files in a patch, for choosing tests only."""
    return list(dict.fromkeys(re.findall(r"^\+\+\+ b/(.+?)\t?$", patch, re.MULTILINE)))


def _django_labels(row: Row) -> list[str]:
    given = _TEST_OUTPUT.search(row.eval_script or "")
    if given:
        words = shlex.split(given[1].strip().splitlines()[0])
        after = words[words.index("--parallel") + 2 :] if "--parallel" in words else []
        if labels := [word for word in after if not word.startswith("-")]:
            return labels
    files = [PurePosixPath(file) for file in changed_files(row.test_patch)]
    inner = [file.relative_to("tests").with_suffix("") for file in files if _is_test_module(file)]
    return list(dict.fromkeys(".".join(path.parts) for path in inner))


def _is_test_module(file: PurePosixPath) -> bool:
    return file.suffix == ".py" and file.parts[0] == "tests" and len(file.parts) > 2


def _pytest_files(row: Row) -> list[str]:
    """The files of the tests' ids; where ids are bare names, the test files of the test patch."""
    named = [test.split("::")[0] for test in (*row.fail_to_pass, *row.pass_to_pass) if "::" in test]
    changed = [file for file in changed_files(row.test_patch) if PurePosixPath(file).name.startswith("test")]
    return list(dict.fromkeys(named or [file for file in changed if file.endswith(".py")]))


def _python_setup(row: Row, *, install: bool) -> Setup:
    try:
        return _setup(row, install=install)
    except (yaml.YAMLError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise InputError(
            f"no environment can be made of it for {row.instance_id}",
            field="environment_yml" if row.environment_yml else "created_at",
            remedy="Correct the row: it wants a conda export with its Python, or a date such as 2024-01-31",
        ) from None


def _setup(row: Row, *, install: bool) -> Setup:
    if row.environment_yml:
        python, pins = pins_of_conda(row.environment_yml)
        return Setup(
            python=python,
            requirements=pins,
            pinned=True,
            newest=_EXPORTED,
            install=install,
            extras=_EXTRAS if install else [],
            prepare=_edits(row) if install else [],
            env=_env(row),
        )
    created = (row.created_at or "")[:10]
    by_year = _PYTHON_BY_YEAR.get(created[:4], "3.9" if not created else "3.11")
    python = _DJANGO_PYTHON.get(row.version or "", by_year) if row.repo == "django/django" else by_year
    return Setup(
        python=python,
        requirements=_DJANGO_REQUIREMENTS
        if row.repo == "django/django"
        else ["setuptools<70", "wheel", "pytest"],
        newest=created or None,
        install=install,
        extras=_EXTRAS if install else [],
        env=_env(row),
    )


_EXPORTED = "2024-11-30"
"""When SWE-bench exported its environments: what they leave open was resolved about then."""
_EXTRAS = ["test", "tests", "testing", "dev"]


def _edits(row: Row) -> list[str]:
    """Changes that the instance's image makes to the tree before it installs it."""
    lines = str(getattr(row, "dockerfile", "") or "").splitlines()
    edits = re.compile(r"(grep -q .* && )?sed -i ")
    return [line for line in lines if edits.match(line) and " /" not in line]


def _env(row: Row) -> dict[str, str]:
    """There is no .git where tests run, so a version that is derived from tags has to be told."""
    return {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "SETUPTOOLS_SCM_PRETEND_VERSION": row.version or "0"}


_DJANGO_REQUIREMENTS = [
    *(
        "asgiref",
        "argon2-cffi",
        "bcrypt",
        "docutils",
        "geoip2",
        "jinja2",
        "numpy",
        "Pillow",
        "pytz",
        "pyyaml",
    ),
    *(
        "python-memcached",
        "selenium<4",
        "sqlparse",
        "tblib",
        "tzdata",
        "backports.zoneinfo; python_version<'3.9'",
    ),
]


def pins_of_conda(text: str) -> tuple[str, list[str]]:
    """Python's version and the exact pip requirements in an exported conda environment."""
    entries = yaml.safe_load(text)["dependencies"]
    conda = [entry.split("=") for entry in entries if isinstance(entry, str)]
    (python, *_) = [version for name, version, *_ in conda if name == "python"]
    of_python = [f"{name}=={version}" for name, version, *build in conda if build and "py3" in build[0]]
    pip: list[str] = next(
        (entry["pip"] for entry in entries if isinstance(entry, dict) and "pip" in entry), []
    )
    pins = [pin for pin in (*of_python, *pip) if re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.+!-]+", pin)]
    kept = [pin for pin in pins if pin.split("==")[0].lower() not in _NOT_FROM_AN_INDEX]
    return ".".join(python.split(".")[:2]), kept
