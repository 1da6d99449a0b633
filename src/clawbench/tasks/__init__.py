"""The vocabulary of tasks: typed records, suites, prompts, loading and validation."""

from clawbench.tasks.load import (
    BUNDLED,
    Broken,
    bundled_suites,
    content_hash,
    find_task,
    first_problem,
    load_suite,
    load_task,
)
from clawbench.tasks.model import (
    CodingTask,
    EvalSchema,
    Expectation,
    ExtraInfo,
    Method,
    Operation,
    RepoSource,
    Task,
    Transport,
    WebTask,
)
from clawbench.tasks.prompts import bare_prompt, coding_prompt, web_prompt
from clawbench.tasks.schema import task_schema

__all__ = [
    "BUNDLED",
    "Broken",
    "CodingTask",
    "EvalSchema",
    "Expectation",
    "ExtraInfo",
    "Method",
    "Operation",
    "RepoSource",
    "Task",
    "Transport",
    "WebTask",
    "bare_prompt",
    "bundled_suites",
    "coding_prompt",
    "content_hash",
    "find_task",
    "first_problem",
    "load_suite",
    "load_task",
    "task_schema",
    "web_prompt",
]
