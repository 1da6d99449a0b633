"""The live view of a web run: what its page shows, and how a person who leaves ends the run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from clawbench.doctor import find_novnc
from clawbench.environments.browser.vnc import Handout, LiveView, Subject, ViewSettings, serve_view
from clawbench.errors import MissingPartError
from clawbench.runner.stops import Condition, human_left
from clawbench.tasks import WebTask


def open_view(
    settings: ViewSettings, task: WebTask, files: Mapping[str, Path], *, screen: Path, relay: Path
) -> AbstractAsyncContextManager[LiveView]:
    """Serve a run's view; `files`: as the browser's file dialogs show them -> the host file."""
    novnc = find_novnc()
    if novnc is None:
        raise MissingPartError("noVNC", "shows the screen in a browser", "Run `clawbench doctor`")
    about = subject(settings, task, files)
    return serve_view(settings, about, screen=screen, relay=relay, novnc=novnc)


def subject(settings: ViewSettings, task: WebTask, files: Mapping[str, Path]) -> Subject:
    """The person's files are shown to a person who acts; whoever watches an agent needs none."""
    described = {Path(extra.path).name: extra.description for extra in task.extra_info}
    handouts = [
        Handout(path, shown_as, described.get(path.name, "")) for shown_as, path in sorted(files.items())
    ]
    return Subject(
        title=f"{task.suite}/{task.id}",
        instruction=task.instruction,
        mode=settings.mode,
        handouts=handouts if settings.mode == "control" else (),
    )


def leaving(settings: ViewSettings, view: LiveView) -> list[Condition]:
    """Only a run that a person drives ends when they leave."""
    return [human_left(view.presence.left, settings.grace_s)] if settings.mode == "control" else []


def invitation(settings: ViewSettings, view: LiveView) -> str:
    """What the terminal says."""
    verb = "Drive the browser" if settings.mode == "control" else "Watch the run, view only"
    return f"{verb} (this address works once, in one browser):\n{view.url}"
