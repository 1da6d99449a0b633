"""What the page of a live view tells beside the screen: the task, the person's files, how it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clawbench.results import StopReason, Verdict

Mode = Literal["watch", "control"]
LONGEST_TEXT = 200_000
"""Longer files are only offered as a whole."""

ENDINGS: dict[StopReason, str] = {
    StopReason.INTERCEPTED: "Recorded: request intercepted",
    StopReason.AGENT_EXITED: "Recorded: the agent ended",
    StopReason.IDLE: "Recorded: nothing happened for too long",
    StopReason.TIME_LIMIT: "Recorded: the time is up",
    StopReason.BUDGET: "Recorded: the budget is used up",
    StopReason.HUMAN_LEFT: "Recorded: you left",
    StopReason.BROWSER_CRASHED: "The browser ended",
    StopReason.MODEL_UNREACHABLE: "The model could not be reached",
    StopReason.CANCELLED: "Cancelled",
    StopReason.ERROR: "The run broke",
}
VERDICTS: dict[Verdict, str] = {
    Verdict.PASS: "Verdict: pass. The request is the one that was asked for.",
    Verdict.FAIL: "Verdict: fail.",
    Verdict.UNJUDGED: "Not judged.",
}
NOT_SENT = "The request was recorded and stopped before it left the browser."


@dataclass(frozen=True)
class Handout:
    """A file of the synthetic user that the person may look into."""

    path: Path
    shown_as: str
    """Where it is found inside the recorded browser's file dialogs."""
    description: str = ""


@dataclass(frozen=True)
class Subject:
    """What the run is about."""

    title: str
    instruction: str
    mode: Mode
    handouts: Sequence[Handout] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "instruction": self.instruction,
            "mode": self.mode,
            "files": [_shown(handout) for handout in self.handouts],
        }

    def file(self, name: str) -> Path | None:
        """The handout of that name; nothing else on this machine has one."""
        return next((one.path for one in self.handouts if one.path.name == name), None)


def _shown(handout: Handout) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": handout.path.name,
        "path": handout.shown_as,
        "description": handout.description,
    }
    if handout.path.stat().st_size > LONGEST_TEXT:
        return shown
    try:
        text = handout.path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return shown
    try:
        return {**shown, "data": json.loads(text)}
    except ValueError:
        return {**shown, "text": text}


def ending(reason: StopReason, verdict: Verdict | None) -> tuple[str, str]:
    """How a run ended, as a headline and a line below it."""
    lines = [NOT_SENT] if reason is StopReason.INTERCEPTED else []
    if verdict is not None and verdict in VERDICTS:
        lines.append(VERDICTS[verdict])
    return ENDINGS[reason], "\n".join(lines)
