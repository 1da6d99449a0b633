"""What SWE-bench's evaluator left behind for one instance, read as a verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawbench.results import Cause, Verdict
from clawbench.runner.evaluation import Judged
from clawbench.tasks.images import image_names
from clawbench.tasks.predictions import Prediction

_FAULT = {Verdict.RESOLVED: Cause.NONE, Verdict.ERROR: Cause.INFRASTRUCTURE}
_LOGGED = r"^\d{4}-\d\d-\d\d [\d:,]+ - (?:INFO|ERROR) - "
_NOT_APPLIED = re.compile(_LOGGED + ">>>>> Patch Apply Failed", re.MULTILINE)
_FAILED = re.compile(_LOGGED + r"(?P<what>Error .*)", re.MULTILINE)
_TOO_LATE = re.compile(r"Timeout error: \d+ seconds exceeded\.\s*\Z")


def read_result(prediction: Prediction, logs: Path, output: Path) -> Judged:
    verdict, explanation, tests = _read(prediction, logs, output)
    return Judged(
        instance_id=prediction.instance_id,
        model=prediction.model_name_or_path,
        verdict=verdict.value,
        cause=_FAULT.get(verdict, Cause.AGENT).value,
        explanation=explanation,
        tests=tests,
        directory=str(logs),
    )


def _read(prediction: Prediction, logs: Path, output: Path) -> tuple[Verdict, str, dict[str, str]]:
    if not prediction.patch:
        return Verdict.UNRESOLVED, "the patch is empty; SWE-bench's evaluator runs no tests then", {}
    report = _report(logs / "report.json", prediction.instance_id)
    if report is not None:
        verdict = Verdict.RESOLVED if report["resolved"] else Verdict.UNRESOLVED
        return verdict, _said(report, logs), statuses(report)
    log = _text(logs / "run_instance.log")
    if _NOT_APPLIED.search(log):
        return Verdict.APPLY_FAILED, f"the patch does not apply; see {logs}", {}
    if _TOO_LATE.search(_text(logs / "test_output.txt")):
        return Verdict.TIMEOUT, f"the tests did not end in time; see {logs}", {}
    return Verdict.ERROR, _trouble(prediction.instance_id, log, logs, output), {}


def _said(report: Mapping[str, Any], logs: Path) -> str:
    reason = report.get("infra_failure_reason")
    return f"SWE-bench's evaluator says so{f' ({reason})' if reason else ''}; see {logs}"


def _trouble(instance_id: str, log: str, logs: Path, output: Path) -> str:
    if "Image not found locally" in log and "Container for " not in log:
        names = " or ".join(image_names(instance_id))
        return f"its image is not on this machine and cannot be pulled: build it as {names}; see {logs}"
    failed = _FAILED.search(log)
    return f"{failed['what']}; see {logs}" if failed else f"it left no report; see {output}"


def _report(file: Path, instance_id: str) -> dict[str, Any] | None:
    """None also where the evaluator was killed while it wrote."""
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())[instance_id]
    except (OSError, ValueError, KeyError):
        return None
    return found


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
