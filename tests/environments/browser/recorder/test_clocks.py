"""Actions, requests and video tell the same time: what a click changes is seen in the frame of its moment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.video import FRAMES_PER_SECOND, Video
from tests.environments.browser.recorder.test_video import COLOURS, colours, filmed, is_near, steps

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed"),
]

TURNS_TO = ("red", "lime", "red", "lime")
BESIDE_THE_POINTER = (300, 800)
FRAME_S = 1 / FRAMES_PER_SECOND
PAGE = """<body style="background:blue" onclick="document.body.style.background =
(dark = !dark) ? 'red' : 'lime'; fetch('/clicked')"><script>dark = false</script>"""


async def test_what_a_click_changes_is_filmed_after_it_and_before_the_next(
    stage_at: Any, tmp_path: Path
) -> None:
    async with stage_at(intercept=True) as stage:
        stage.site.pages["/"] = PAGE
        await stage.open("/")
        video = Video(stage.screen, stage.run.recording)
        await video.start()
        for number, colour in enumerate(TURNS_TO):
            await stage.click_at(900, 700)
            await stage.until(lambda: len(stage.requests("/clicked")) == number + 1)  # noqa: B023
            await filmed(stage.run.recording, tmp_path / "copy.mp4", COLOURS[colour], *BESIDE_THE_POINTER)
        await video.stop()
        clicks = [action["timestamp"] / 1000 for action in stage.actions("click")]
        fetches = [request["timestamp"] for request in stage.requests("/clicked")]
    changes = moments_of_change(stage.run.recording, video.started_at)
    assert len(clicks) == len(fetches) == len(changes) == len(TURNS_TO)
    following = [*clicks[1:], float("inf")]
    for clicked, fetched, changed, next_click in zip(clicks, fetches, changes, following, strict=True):
        assert clicked - 0.001 <= fetched < next_click, "timestamps of actions are whole milliseconds"
        assert clicked - FRAME_S <= changed < next_click


def moments_of_change(path: Any, started_at: float) -> list[float]:
    """When the video turns red or lime, in epoch seconds."""
    found, before = [], ""
    for step, pixel in zip(steps(path), colours(path, *BESIDE_THE_POINTER), strict=True):
        name = next((name for name in ("red", "lime") if is_near(pixel, COLOURS[name])), "")
        if name and name != before:
            found.append(started_at + step * FRAME_S)
        before = name or before
    return found
