"""The verdict on a patch: tests before and after, in fresh checkouts that the agent never saw."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from clawbench.environments.repo.setup import TestEnvironment, prepare_environment
from clawbench.environments.repo.setup.products import add_products
from clawbench.errors import EnvironmentFailedError, MissingPartError, SandboxError
from clawbench.results import Cause, Check, Score, Verdict, write_json
from clawbench.scoring.before import Before, keep_before, load_before, measured
from clawbench.scoring.checkout import (
    ApplyError,
    Trees,
    apply_patch,
    check_out,
    copy_files,
    open_trees,
)
from clawbench.scoring.kinds import EvaluatorError, kind_of
from clawbench.scoring.testreport import EXPECTED_FAILURE, TAMPERED, Outcome
from clawbench.scoring.testrun import OpenSandbox, TestRun, TestSite, run_tests
from clawbench.tasks import CodingTask

TEST_TIME_LIMIT_S = 1800.0


async def score_coding(
    task: CodingTask,
    patch: bytes,
    *,
    source: Path,
    scratch: Path,
    open_sandbox: OpenSandbox,
    report: Path,
    cache: Path | None = None,
    time_limit_s: float = TEST_TIME_LIMIT_S,
    environment: TestEnvironment | None = None,
) -> Score:
    """Apply `patch` to a fresh checkout of the base commit, put the tests over it and run them.

    `cache` keeps how the tests stand before any fix; without it that is measured each time. `environment`
    is what the tests run on, where it is not to be made by the task's recipe.
    """
    evaluation = _Evaluation(task, scratch, open_sandbox, cache, time_limit_s, environment)
    try:
        score = await evaluation.score(patch, source)
    except (EvaluatorError, SandboxError, EnvironmentFailedError, MissingPartError) as error:
        score = Score(verdict=Verdict.ERROR, cause=Cause.INFRASTRUCTURE, explanation=str(error))
    write_json(report, {"command": task.test_command, "verdict": score.verdict, **evaluation.report})
    return score


class _Evaluation:
    """One patch on one task; what it learns goes into `report` as it goes."""

    def __init__(
        self,
        task: CodingTask,
        scratch: Path,
        open_sandbox: OpenSandbox,
        cache: Path | None,
        time_limit_s: float,
        environment: TestEnvironment | None,
    ) -> None:
        self._task, self._scratch, self._open_sandbox = task, scratch, open_sandbox
        self._cache, self._time_limit_s = cache, time_limit_s
        self._environment = environment
        self.report: dict[str, Any] = {}

    async def score(self, patch: bytes, source: Path) -> Score:
        lacking = kind_of(self._task).missing(self._task.test_command)
        if lacking is not None:
            raise EvaluatorError(lacking)
        self._scratch.mkdir(parents=True, exist_ok=True)
        trees = await open_trees(self._task, source, self._scratch)
        self._environment = self._environment or await prepare_environment(
            self._task, source, self._cache or self._scratch, self._open_sandbox
        )
        if self._environment is not None and self._environment.notices:
            self.report["environment"] = list(self._environment.notices)
        before = load_before(self._task, self._cache) or await self._measure_before(trees)
        self.report["before"] = {"measured_at": before.measured_at, "cached": before.cached} | _table(
            before.outcomes
        )
        problem = before.problem(self._task)
        if problem is not None:
            return self._decide(
                before.outcomes, Verdict.ERROR, Cause.TASK, f"the task is broken: tests {problem}"
            )
        if not patch:
            return self._decide(before.outcomes, Verdict.UNRESOLVED, Cause.AGENT, "the patch is empty")
        try:
            patched = await apply_patch(trees, self._task.base_commit, patch)
        except ApplyError as error:
            explanation = f"`git apply` does not take the patch: {error}"
            return Score(verdict=Verdict.APPLY_FAILED, cause=Cause.AGENT, explanation=explanation)
        self.report["restored"] = patched.restored
        return self._judge(await self._run(trees, patched.tree, "after"), before)

    async def _measure_before(self, trees: Trees) -> Before:
        run = await self._run(trees, trees.tests, "before")
        before = measured(run)
        if before.problem(self._task) is not None:
            self.report["output_tail"] = run.output
        keep_before(self._task, before, self._cache)
        return before

    async def _run(self, trees: Trees, tree: str, name: str) -> TestRun:
        checkout = self._scratch / name
        await check_out(trees, tree, checkout)
        fixed = copy_files(checkout, trees.deciding, self._scratch / f"{name}-tests")
        site = self._site(checkout, fixed, self._scratch / f"{name}-run")
        tests = [*self._task.fail_to_pass, *self._task.pass_to_pass]
        kind = kind_of(self._task)
        return await run_tests(
            self._task.test_command, tests, kind, site, self._open_sandbox, self._time_limit_s
        )

    def _site(self, checkout: Path, fixed: dict[str, Path], scratch: Path) -> TestSite:
        environment = self._environment
        if environment is None:
            return TestSite(checkout, fixed, scratch)
        if environment.products is not None:
            add_products(environment.products, checkout)
        return TestSite(checkout, fixed, scratch, environment.mounts, environment.env, environment.python)

    def _judge(self, run: TestRun, before: Before) -> Score:
        if added := sorted(run.traits - before.traits):
            told = Outcome(TAMPERED, f"the patch adds to how tests are run: {', '.join(added)}")
            run.outcomes = dict.fromkeys(run.outcomes, told)
        self.report["after"] = {"duration_s": run.duration_s} | _table(run.outcomes)
        self.report["output_tail"] = run.output
        if run.timed_out:
            explanation = f"the tests took longer than {self._time_limit_s:g} s"
            return self._decide(run.outcomes, Verdict.TIMEOUT, Cause.AGENT, explanation)
        failed = [test for test in run.outcomes if not self._counts(test, run, before)]
        if not failed:
            return self._decide(run.outcomes, Verdict.RESOLVED, Cause.NONE, "all tests that decide pass")
        explanation = f"{len(failed)} of {len(run.outcomes)} tests do not pass: {', '.join(failed[:5])}"
        return self._decide(run.outcomes, Verdict.UNRESOLVED, Cause.AGENT, explanation)

    def _counts(self, test: str, run: TestRun, before: Before) -> bool:
        """A pass; for tests that must go on as before, also a failure that was expected before as well."""
        expected = run.outcomes[test].status == before.outcomes[test].status == EXPECTED_FAILURE
        return run.outcomes[test].passed or (expected and test not in self._task.fail_to_pass)

    def _decide(
        self, outcomes: dict[str, Outcome], verdict: Verdict, cause: Cause, explanation: str
    ) -> Score:
        checks = [
            Check(name=test, ok=outcome.passed, detail=outcome.status) for test, outcome in outcomes.items()
        ]
        return Score(verdict=verdict, cause=cause, checks=checks, explanation=explanation)


def _table(outcomes: dict[str, Outcome]) -> dict[str, Any]:
    return {"tests": {test: asdict(outcome) for test, outcome in outcomes.items()}}
