"""What `run` and `replay` share: how a record is used, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clawbench.cli.console import err, out
from clawbench.errors import InputError
from clawbench.harnesses import Harness
from clawbench.models import Model
from clawbench.results import Divergence, ReplayMode, ReplayOutcome, ReplayReport, RunRecord
from clawbench.runner import Original, Replaying, changes_since, read_original, recorded_model
from clawbench.tasks import Task

MOST_LINES = 60
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_LEGEND = "‹…› stands for what is not compared: ids, dates, times, ports, temporary paths, pictures."


def only_one(**given: object) -> None:
    """Refuse flags that say different things about the record."""
    flags = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if len(flags) > 1:
        raise InputError(f"cannot go with {flags[1]}", field=flags[0], remedy="Give one of them")


@dataclass(frozen=True)
class RecordedSource:
    """A record that `run` takes answers from."""

    original: Original
    live: bool

    def model(self) -> Model:
        return recorded_model(self.original)

    def announce(self, task: Task, harness: Harness, model: Model) -> Replaying:
        mode = ReplayMode.THEN_LIVE if self.live else ReplayMode.OR_FAIL
        return announce(self.original, mode, task, harness, model)


def recorded_source(
    or_fail: Path | None, then_live: Path | None, *, model: str | None, human: bool
) -> RecordedSource | None:
    """What `run` was told about a record; None where it was told nothing."""
    given = or_fail or then_live
    if given is None:
        return None
    flag = "--replay-or-fail" if or_fail else "--replay-then-live"
    if human:
        raise InputError("cannot go with --human", field=flag, remedy="A person asks no model")
    if or_fail and model is not None:
        raise InputError(f"is not asked with {flag}", field="--model", remedy="Leave it out")
    return RecordedSource(read_original(given), live=or_fail is None)


def announce(original: Original, mode: ReplayMode, task: Task, harness: Harness, model: Model) -> Replaying:
    """Say what is about to be replayed, and what is no longer as it was."""
    changes = changes_since(original, task, harness, model)
    what = {
        ReplayMode.OR_FAIL: "no model is asked",
        ReplayMode.GO_ON: "no model is asked, also where the agent asks something else",
        ReplayMode.THEN_LIVE: f"where they end, {model.name} is asked",
    }[mode]
    calls = len(original.calls)
    _say(f"Replaying {original.run.path}: {calls} recorded model call{'s' * (calls != 1)}; {what}.")
    for change in changes:
        _say(f"{change}.", style="yellow")
    return Replaying(original, mode, changes)


def show_replay(record: RunRecord) -> None:
    """How the replay went, below the run's row."""
    replay = record.replay
    if replay is None:
        return
    out.print()
    _tell(_summary(replay, record))
    if replay.divergence is not None:
        _show_divergence(replay.divergence)
    if replay.outcome is ReplayOutcome.DIVERGED and replay.mode is ReplayMode.OR_FAIL:
        _tell("To go on all the same: --go-on (nearest recorded answers) or --replay-then-live.")


def replay_failed(record: RunRecord) -> bool:
    """The replay was to be the same, and was not."""
    replay = record.replay
    if replay is None or replay.mode is not ReplayMode.OR_FAIL:
        return False
    return replay.outcome in (ReplayOutcome.DIVERGED, ReplayOutcome.INCOMPLETE)


def ends_with_record(record: RunRecord) -> bool:
    """The run's error is that there was no further answer on record, which `show_replay` tells."""
    told = (ReplayOutcome.DIVERGED, ReplayOutcome.RECORD_ENDED)
    return record.replay is not None and record.replay.outcome in told


def _summary(replay: ReplayReport, record: RunRecord) -> str:
    head = (
        f"replay of {replay.of}: {replay.replayed_calls} of {replay.recorded_calls} recorded calls answered"
    )
    if replay.live_from is not None:
        head += f"; from {replay.live_from} on the model itself ({replay.live_calls} calls)"
    match replay.outcome:
        case ReplayOutcome.RECORD_ENDED if replay.live_from is None:
            return f"{head}, up to where the record ends. {record.stop_description}."
        case ReplayOutcome.INCOMPLETE:
            left = f"{len(replay.unasked)} recorded calls were not asked for, first {replay.unasked[0]}"
            return f"{head}; the agent ended earlier: {left}."
        case ReplayOutcome.DIVERGED:
            return f"{head}."
    return f"{head}. {_verdicts(replay, record)}"


def _verdicts(replay: ReplayReport, record: RunRecord) -> str:
    if replay.recorded_verdict is None:
        return "The recorded run has no verdict."
    was, now = replay.recorded_verdict.value, record.verdict.value if record.verdict else "none"
    verdict = f"Verdict {now}, as recorded" if was == now else f"Verdict {now}; recorded was {was}"
    return f"{verdict}; {_work(replay, record)}."


def _work(replay: ReplayReport, record: RunRecord) -> str:
    """Whether the agent did the same."""
    if record.kind != "web":
        return "the same patch" if replay.same_patch else "another patch"
    apart = replay.first_action_apart
    return "the same actions" if apart is None else f"action {apart} is another"


def _show_divergence(divergence: Divergence) -> None:
    out.print("first divergence:", style="bold red", end=" ")
    _tell(f"{divergence.call}: {divergence.explanation}.")
    lines = divergence.diff.splitlines()
    for line in lines[:MOST_LINES]:
        out.print(
            f"  {line}", style=_COLOURS.get(line[:1], ""), markup=False, highlight=False, soft_wrap=True
        )
    if len(lines) > MOST_LINES:
        _tell(f"  … {len(lines) - MOST_LINES} more lines in run.json (replay.divergence.diff)")
    if lines:
        _tell(_LEGEND)


def _tell(text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def _say(text: str, style: str = "") -> None:
    err.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
