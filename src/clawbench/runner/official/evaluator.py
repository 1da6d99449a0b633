"""Drives `swebench.harness.run_evaluation`, and does not have it judge again what it has judged."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clawbench.errors import InputError
from clawbench.results import Verdict
from clawbench.results.layout import slug
from clawbench.runner.evaluation import Judged
from clawbench.runner.host import Host
from clawbench.runner.official import engine
from clawbench.runner.official.reports import read_result
from clawbench.tasks.images import choose_image
from clawbench.tasks.predictions import Prediction, write_predictions

PROGRAM = "swebench.harness.run_evaluation"
NEEDED = ("eval_script", "log_parser", "eval_type")
KEY = "key"
"""In the logs of an instance: what the judgement is about."""


@dataclass(frozen=True)
class OfficialEvaluator:
    """Runs in `directory`, where it leaves `logs` and one report per model."""

    host: Host
    directory: Path
    workers: int = 8
    fresh: bool = False
    timeout_s: int = 1800

    async def judge_all(
        self, predictions: Sequence[Prediction], rows: Mapping[str, Mapping[str, Any]]
    ) -> list[Judged]:
        """Each model's predictions in one call; results in their order, as far as it came."""
        check_rows(rows)
        await asyncio.to_thread(engine.require_parts)
        self.directory.mkdir(parents=True, exist_ok=True)
        judged: dict[tuple[str, str], Judged] = {}
        for model in dict.fromkeys(entry.model_name_or_path for entry in predictions):
            of_model = [entry for entry in predictions if entry.model_name_or_path == model]
            for result in await self._judge_model(model, of_model, rows):
                judged[result.instance_id, model] = result
        keys = ((entry.instance_id, entry.model_name_or_path) for entry in predictions)
        return [judged[key] for key in keys if key in judged]

    async def _judge_model(
        self, model: str, predictions: Sequence[Prediction], rows: Mapping[str, Mapping[str, Any]]
    ) -> list[Judged]:
        run_id = f"clawbench-{_digest(self._token(), model)[:12]}"
        output = self.directory / f"{run_id}-output.txt"
        kept = [self._kept(entry, run_id, rows[entry.instance_id], output) for entry in predictions]
        todo = [entry for entry, known in zip(predictions, kept, strict=True) if known is None]
        if todo and not self.host.cancelled.is_set():
            await self._run(run_id, todo, rows, output)
        judged = [
            known or read_result(entry, self._logs(run_id, entry), output)
            for entry, known in zip(predictions, kept, strict=True)
        ]
        unfinished = Verdict.ERROR.value if self.host.cancelled.is_set() else None
        return [entry for entry in judged if entry.verdict != unfinished]

    def _kept(
        self, prediction: Prediction, run_id: str, row: Mapping[str, Any], output: Path
    ) -> Judged | None:
        """A judgement made before on the same patch and row; what is left of any other is cleared away."""
        logs = self._logs(run_id, prediction)
        if not prediction.patch:
            return read_result(prediction, logs, output)
        key = judgement_key(row, prediction.patch)
        if not self.fresh and _text(logs / KEY) == key:
            judged = read_result(prediction, logs, output)
            if judged.verdict != Verdict.ERROR.value:
                return replace(judged, reused=True)
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        (logs / KEY).write_text(key)
        return None

    def _logs(self, run_id: str, prediction: Prediction) -> Path:
        model = slug(prediction.model_name_or_path)
        return self.directory / "logs" / "run_evaluation" / run_id / model / prediction.instance_id

    def _token(self) -> str:
        """Marks containers as those of this directory: another evaluation may use the same docker."""
        file = self.directory / "token"
        with suppress(FileExistsError), file.open("x") as created:
            created.write(secrets.token_hex(8))
        return file.read_text()

    async def _run(
        self, run_id: str, todo: Sequence[Prediction], rows: Mapping[str, Mapping[str, Any]], output: Path
    ) -> None:
        dataset, given = (self.directory / f"{run_id}-{name}.jsonl" for name in ("rows", "predictions"))
        chosen = await asyncio.to_thread(_with_images, [rows[entry.instance_id] for entry in todo])
        dataset.write_text("".join(json.dumps(row) + "\n" for row in chosen))
        safe = slug(todo[0].model_name_or_path)
        write_predictions(given, [entry.model_copy(update={"model_name_or_path": safe}) for entry in todo])
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
        await asyncio.to_thread(engine.remove_containers, run_id)
        try:
            await self._perform([*argv, "--report_dir", str(self.directory)], output)
        finally:
            await asyncio.to_thread(engine.remove_containers, run_id)

    async def _perform(self, argv: Sequence[str], output: Path) -> None:
        """Until it has ended, or we are asked to end."""
        with output.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=self.directory,
                env=await asyncio.to_thread(engine.environment),
                stdout=file,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        self.host.guardian.watch_process(process.pid)
        ended = asyncio.ensure_future(process.wait())
        cancelled = asyncio.ensure_future(self.host.cancelled.wait())
        try:
            await asyncio.wait((ended, cancelled), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
            if process.returncode is None:
                process.terminate()
            await ended
            self.host.guardian.forget_process(process.pid)


def check_rows(rows: Mapping[str, Mapping[str, Any]]) -> None:
    for name, row in rows.items():
        if lacking := [field for field in NEEDED if not row.get(field)]:
            raise InputError(
                f"the row of {name} lacks it",
                field=lacking[0],
                remedy=f"SWE-bench's evaluator needs {', '.join(NEEDED)}: give its current dataset, or use "
                "--evaluator own",
            )


def judgement_key(row: Mapping[str, Any], patch: bytes) -> str:
    """What a judgement depends on: the row, the patch and the evaluator's version."""
    return _digest(json.dumps(row, sort_keys=True), hashlib.sha256(patch).hexdigest(), version("swebench"))


def _with_images(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    present = engine.local_images()
    return [{**row, "image": choose_image(row["instance_id"], row.get("image"), present)} for row in rows]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""
