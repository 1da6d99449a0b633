"""SWE-bench's own evaluator, driven as a program; its reports and logs are collected and read."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawbench.errors import MissingPartError
from clawbench.results import Cause, Verdict
from clawbench.results.layout import slug
from clawbench.runner.evaluation import Judged
from clawbench.tasks.predictions import Prediction, write_predictions

PROGRAM = "swebench.harness.run_evaluation"
_FAULT = {Verdict.RESOLVED: Cause.NONE, Verdict.ERROR: Cause.INFRASTRUCTURE}


@dataclass(frozen=True)
class OfficialEvaluator:
    """Runs in `directory`, where it leaves `logs` and one report per model."""

    directory: Path
    workers: int = 8
    timeout_s: int = 1800

    async def judge_all(
        self, predictions: Sequence[Prediction], rows: Mapping[str, Mapping[str, Any]]
    ) -> list[Judged]:
        """Each model's predictions in one call; what it has judged before it does not judge again."""
        require_swebench()
        self.directory.mkdir(parents=True, exist_ok=True)
        judged: dict[tuple[str, str], Judged] = {}
        for model in dict.fromkeys(entry.model_name_or_path for entry in predictions):
            of_model = [entry for entry in predictions if entry.model_name_or_path == model]
            for result in await self._judge_model(model, of_model, rows):
                judged[result.instance_id, model] = result
        return [judged[entry.instance_id, entry.model_name_or_path] for entry in predictions]

    async def _judge_model(
        self, model: str, predictions: Sequence[Prediction], rows: Mapping[str, Mapping[str, Any]]
    ) -> list[Judged]:
        run_id = run_id_of(model, predictions)
        dataset, given = (
            self.directory / f"{run_id}-rows.jsonl",
            self.directory / f"{run_id}-predictions.jsonl",
        )
        dataset.write_text("".join(json.dumps(rows[entry.instance_id]) + "\n" for entry in predictions))
        write_predictions(given, predictions)
        output = self.directory / f"{run_id}-output.txt"
        await self._run(run_id, dataset, given, output)
        logs = self.directory / "logs" / "run_evaluation" / run_id
        return [read_result(entry, logs, output) for entry in predictions]

    async def _run(self, run_id: str, dataset: Path, given: Path, output: Path) -> None:
        argv = [
            sys.executable,
            "-m",
            PROGRAM,
            "--dataset_name",
            str(dataset),
            "--predictions_path",
            str(given),
        ]
        argv += ["--max_workers", str(self.workers), "--run_id", run_id, "--timeout", str(self.timeout_s)]
        with output.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *argv,
                "--report_dir",
                str(self.directory),
                cwd=self.directory,
                env={**os.environ, "HF_HUB_OFFLINE": "1"},
                stdout=file,
                stderr=asyncio.subprocess.STDOUT,
            )
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()


def require_swebench() -> None:
    if importlib.util.find_spec("swebench") is None:
        raise MissingPartError(
            "swebench", "it is SWE-bench's own evaluator", "`pip install 'clawbench[swebench]'`"
        )
    if shutil.which("docker") is None:
        raise MissingPartError("docker", "SWE-bench's evaluator runs instances in it", "Install docker")


def run_id_of(model: str, predictions: Sequence[Prediction]) -> str:
    """The same for the same patches: that evaluator keeps results by run id, model and instance."""
    digest = hashlib.sha256(model.encode())
    for entry in sorted(predictions, key=lambda one: one.instance_id):
        digest.update(f"\0{entry.instance_id}\0".encode() + entry.patch)
    return f"clawbench-{digest.hexdigest()[:12]}"


def read_result(prediction: Prediction, logs: Path, output: Path) -> Judged:
    """What the evaluator left behind for one instance."""
    found = next(iter(logs.glob(f"*/{prediction.instance_id}")), logs / slug(prediction.instance_id))
    log = _text(found / "run_instance.log")
    verdict, explanation, tests = Verdict.ERROR, f"no report; see {output}", {}
    if (found / "report.json").is_file():
        report = json.loads((found / "report.json").read_bytes())[prediction.instance_id]
        verdict = Verdict.RESOLVED if report["resolved"] else Verdict.UNRESOLVED
        explanation, tests = f"SWE-bench's evaluator says so; see {found}", statuses(report)
    elif not prediction.patch:
        verdict, explanation = Verdict.UNRESOLVED, "the patch is empty"
    elif re.search(r"Patch Apply Failed", log):
        verdict, explanation = Verdict.APPLY_FAILED, f"the patch does not apply; see {found}"
    elif re.search(r"[Tt]imed? ?out", log):
        verdict, explanation = Verdict.TIMEOUT, f"the tests did not end in time; see {found}"
    return Judged(
        instance_id=prediction.instance_id,
        model=prediction.model_name_or_path,
        verdict=verdict.value,
        cause=_FAULT.get(verdict, Cause.AGENT).value,
        explanation=explanation,
        tests=tests,
        directory=str(found),
    )


def statuses(report: Mapping[str, Any]) -> dict[str, str]:
    """Each deciding test, as that report sorts them."""
    groups = report.get("tests_status", {})
    return {
        test: "passed" if outcome == "success" else "failed"
        for kind in ("FAIL_TO_PASS", "PASS_TO_PASS")
        for outcome in ("success", "failure")
        for test in groups.get(kind, {}).get(outcome, [])
    }


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.is_file() else ""
