"""Judging patches apart from any run: predictions of whatever origin, each in a fresh checkout."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from clawbench.environments.repo import open_source
from clawbench.errors import ClawbenchError
from clawbench.results import Cause, Score, Verdict, write_atomic, write_json
from clawbench.results.layout import claim
from clawbench.runner.host import Host
from clawbench.sandbox import open_sandbox
from clawbench.scoring.before import evaluator_version
from clawbench.scoring.coding import TEST_TIME_LIMIT_S, score_coding
from clawbench.scoring.kinds import kind_of
from clawbench.tasks import CodingTask, content_hash
from clawbench.tasks.predictions import Prediction

SKIPPED = "skipped"


@dataclass(frozen=True)
class Judged:
    """What was found out about one prediction."""

    instance_id: str
    model: str
    verdict: str
    """A verdict of coding runs, or `skipped` where the machine cannot run such tests."""
    cause: str = ""
    explanation: str = ""
    tests: Mapping[str, str] | None = None
    duration_s: float = 0.0
    directory: str = ""
    reused: bool = False
    """Judged by an earlier call on the same patch, task and evaluator."""

    def as_json(self) -> dict[str, Any]:
        return {
            "instance_id": self.instance_id,
            "model_name_or_path": self.model,
            "verdict": self.verdict,
            "cause": self.cause,
            "explanation": self.explanation,
            "tests": dict(self.tests or {}),
            "duration_s": self.duration_s,
            "directory": self.directory,
            "reused": self.reused,
        }


@dataclass(frozen=True)
class Evaluation:
    """Where and how predictions are judged."""

    host: Host
    output: Path
    sandbox: str = "bwrap"
    workers: int = 8
    fresh: bool = False
    """Judge again what was judged before."""
    time_limit_s: float = TEST_TIME_LIMIT_S
    done: Callable[[Judged], None] = lambda _judged: None

    async def judge_all(
        self, predictions: Sequence[Prediction], tasks: Mapping[str, CodingTask]
    ) -> list[Judged]:
        """One at a time per worker; results in the order of the predictions, as far as it came."""
        places = asyncio.Semaphore(self.workers)

        async def one(number: int, prediction: Prediction) -> Judged | None:
            async with places:
                if self.host.cancelled.is_set():
                    return None
                judged = await self._judge(number, prediction, tasks[prediction.instance_id])
                self.done(judged)
                return judged

        found = await asyncio.gather(*(one(number, entry) for number, entry in enumerate(predictions)))
        return [judged for judged in found if judged is not None]

    async def _judge(self, number: int, prediction: Prediction, task: CodingTask) -> Judged:
        about = Judged(prediction.instance_id, prediction.model_name_or_path, SKIPPED)
        lacking = kind_of(task).missing(task.test_command)
        if lacking is not None:
            return replace(about, explanation=lacking)
        directory = claim(claim(self.output, prediction.model_name_or_path), prediction.instance_id)
        key = judgement_key(task, prediction.patch)
        kept = None if self.fresh else _kept(directory / "result.json", key)
        if kept is not None:
            return replace(about, **kept, directory=str(directory), reused=True)
        began = time.monotonic()
        write_atomic(directory / "patch.diff", prediction.patch)
        async with self.host.run_scratch(f"eval-{number}") as scratch:
            score = await self._score(task, prediction.patch, directory, scratch)
        judged = replace(
            about,
            verdict=score.verdict.value,
            cause=score.cause.value,
            explanation=score.explanation,
            tests={check.name: check.detail for check in score.checks},
            duration_s=round(time.monotonic() - began, 3),
            directory=str(directory),
        )
        write_json(directory / "result.json", {"key": key, **judged.as_json()})
        return judged

    async def _score(self, task: CodingTask, patch: bytes, directory: Path, scratch: Path) -> Score:
        try:
            return await score_coding(
                task,
                patch,
                source=await open_source(task, self.host.cache),
                scratch=scratch / "tests",
                open_sandbox=partial(open_sandbox, self.sandbox, guardian=self.host.guardian),
                report=directory / "tests.json",
                cache=self.host.cache,
                time_limit_s=self.time_limit_s,
            )
        except ClawbenchError as error:
            return Score(verdict=Verdict.ERROR, cause=Cause.INFRASTRUCTURE, explanation=str(error))


def judgement_key(task: CodingTask, patch: bytes) -> str:
    """What a judgement depends on: the task, the patch and the code that judges."""
    parts = (content_hash(task), hashlib.sha256(patch).hexdigest(), evaluator_version())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _kept(file: Path, key: str) -> dict[str, Any] | None:
    """A judgement made before; one that failed for want of something here is made again."""
    try:
        result = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    if result.get("key") != key or result["verdict"] == Verdict.ERROR.value:
        return None
    return {name: result[name] for name in ("verdict", "cause", "explanation", "tests", "duration_s")}
