"""Typed tasks: what an agent is asked to do, and (never near the agent) how it is judged."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from clawbench.tasks.paths import parse_path
from clawbench.tasks.setup import Setup

PLACEHOLDER_PATTERN = "__PLACEHOLDER_WILL_NOT_MATCH__"


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a valid regular expression: {error}") from None
    return pattern


def _can_be_read(path: str) -> str:
    parse_path(path)
    return path


def _can_be_opened(path: str) -> str:
    if not path or "\0" in path:
        raise ValueError(f"{path!r} is no path")
    return path


def _is_finite(value: Any) -> bool:
    """Whether it is a number that arithmetic can be done with."""
    try:
        return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


def _stays_inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"path {path!r} leaves the task's directory")
    return path


Pattern = Annotated[str, AfterValidator(_compiles)]
InnerPath = Annotated[str, AfterValidator(_stays_inside)]
OuterPath = Annotated[str, AfterValidator(_can_be_opened)]
RequestPath = Annotated[
    str,
    Field(pattern=r"^(url|method|(body|params|headers)([.\[].*)?)$"),
    AfterValidator(_can_be_read),
]


class Method(StrEnum):
    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class Transport(StrEnum):
    HTTP = "http"
    WEBSOCKET = "websocket"


class EvalSchema(BaseModel):
    """Which request is the final, irreversible one. It is blocked before it leaves the browser."""

    model_config = ConfigDict(extra="allow", frozen=True)

    url_pattern: Pattern
    """Regular expression, searched for in the full URL."""
    method: Method
    body: dict[str, Any] | None = None
    params: dict[str, Any] | None = None
    transport: Transport | None = None
    """`websocket`: a frame that a page sends over a WebSocket with such a URL; it is seen, not blocked."""

    @property
    def never_matches(self) -> bool:
        return self.url_pattern == PLACEHOLDER_PATTERN

    @property
    def over_websocket(self) -> bool:
        return self.transport is Transport.WEBSOCKET


class Operation(StrEnum):
    EQUALS = "equals"
    ONE_OF = "one_of"
    REGEX = "regex"
    NUMBER = "number"
    SET = "set"
    ABSENT = "absent"
    EXISTS = "exists"


class Expectation(BaseModel):
    """One exact assertion on the intercepted request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: RequestPath
    """`url`, `method`, or a path such as `body.items[0].qty`, `params.x`, `headers.x`."""
    op: Operation = Operation.EQUALS
    value: Any = Field(default=None, validate_default=True)

    @field_validator("value")
    @classmethod
    def _fits_operation(cls, value: Any, info: Any) -> Any:
        op = info.data.get("op")
        if op in (Operation.ONE_OF, Operation.SET) and not isinstance(value, list):
            raise ValueError(f"`{op}` needs a list")
        if op is Operation.REGEX:
            if not isinstance(value, str):
                raise ValueError("`regex` needs a string")
            _compiles(value)
        if op is Operation.NUMBER and not _is_finite(value):
            raise ValueError("`number` needs a finite number")
        return value


class ExtraInfo(BaseModel):
    """A file handed to the agent, read-only."""

    model_config = ConfigDict(extra="allow", frozen=True)

    path: InnerPath
    description: str = ""


class _TaskBase(BaseModel):
    """What every task has. Unknown fields are kept, not refused."""

    model_config = ConfigDict(extra="allow")

    time_limit: float = Field(gt=0, allow_inf_nan=False)
    """Minutes the agent may take."""

    _suite: str = PrivateAttr("")
    _id: str = PrivateAttr("")
    _directory: Path = PrivateAttr(Path())

    @property
    def suite(self) -> str:
        return self._suite

    @property
    def id(self) -> str:
        return self._id

    @property
    def directory(self) -> Path:
        """Where the task's files are; never mounted into a sandbox."""
        return self._directory

    def locate(self, suite: str, task_id: str, directory: Path) -> None:
        self._suite, self._id, self._directory = suite, task_id, directory


class WebTask(_TaskBase):
    """Do something on a web site, up to the final request, which is intercepted."""

    instruction: str = Field(min_length=1)
    eval_schema: EvalSchema
    expect: list[Expectation] = []
    extra_info: list[ExtraInfo] = []
    metadata: dict[str, Any] = {}
    judge_context: dict[str, Any] = {}
    site: str | None = None
    """Name of a bundled site; the browser then reaches that site and nothing else."""
    record_passwords: bool = False
    """Leave typed passwords in actions.jsonl instead of masking them."""

    @property
    def kind(self) -> Literal["web"]:
        return "web"


class RepoSource(BaseModel):
    """Where the repository of a coding task comes from: exactly one of the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    history: InnerPath | None = None
    """What the history is built from: a directory that describes it, or a file of `git fast-export`
    (see docs/coding.md)."""
    mirror: OuterPath | None = None
    """Path of a local repository or bare mirror; absolute, or relative to the task."""

    def model_post_init(self, _context: Any) -> None:
        if (self.history is None) == (self.mirror is None):
            raise ValueError("give exactly one of `history` and `mirror`")


class CodingTask(_TaskBase):
    """Resolve an issue in a repository at a base commit; tests decide."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    repo: str = Field(min_length=1)
    base_commit: str = Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")
    problem_statement: str = Field(min_length=1)
    language: str = Field(min_length=1)
    test_command: str = Field(min_length=1)
    """Shell command run in a fresh checkout; the tests to run are appended, quoted."""
    test_runner: str | None = None
    """How tests are run and read: a kind of `clawbench.scoring.kinds`, such as `pytest`."""
    fail_to_pass: list[str] = Field(alias="FAIL_TO_PASS", min_length=1)
    pass_to_pass: list[str] = Field(alias="PASS_TO_PASS", default=[])
    repo_source: RepoSource
    setup: Setup | None = None
    """How the tests' environment is made; None where the system has all they need."""
    patch: str = ""
    """The gold fix. Never near the agent."""
    test_patch: str = ""
    """The tests that decide. Never near the agent."""
    time_limit: float = Field(default=60, gt=0, allow_inf_nan=False)

    @property
    def kind(self) -> Literal["coding"]:
        return "coding"


Task = WebTask | CodingTask
