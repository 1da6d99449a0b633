"""A real screen filmed by a real ffmpeg, judged by ffprobe."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clawbench.environments.browser.screen import Screen
from clawbench.environments.browser.video import Video
from clawbench.errors import MissingPartError
from tests.environments.browser.recorder.paint import paint

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed"),
]

COLOURS = {"red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}


def probe(path: Path) -> dict[str, Any]:
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_packets", "-show_format"]
    done = subprocess.run([*command, str(path)], capture_output=True, check=True)
    assert done.stderr == b""
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def steps(path: Path) -> list[int]:
    """The times of all pictures on the grid of 1/15 s; fails for one that is off it."""
    found = []
    for packet in probe(path)["packets"]:
        step = float(packet["pts_time"]) * 15
        assert abs(step - round(step)) < 1e-4, packet
        found.append(round(step))
    return found


def colours(path: Path, x: int = 960, y: int = 540) -> list[tuple[int, ...]]:
    """The colour of every picture in one place, by default in the middle."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-fps_mode", "passthrough"]
    crop = ["-vf", f"crop=2:2:{x}:{y},format=rgb24", "-f", "rawvideo", "-"]
    pixels = subprocess.run([*command, *crop], capture_output=True, check=True).stdout
    return [tuple(pixels[start : start + 3]) for start in range(0, len(pixels), 12)]


def is_near(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 12 for a, b in zip(one, other, strict=True))


@pytest.fixture
def screen(display: tuple[str, Path]) -> Any:
    screen = Screen(display[1])
    yield screen
    screen.close()


@asynccontextmanager
async def filming(screen: Screen, path: Path, **settings: Any) -> AsyncIterator[Video]:
    video = Video(screen, path, **settings)
    await video.start()
    try:
        yield video
    finally:
        await video.stop()


async def filmed(path: Path, copy: Path, pixel: tuple[int, ...], *place: int) -> None:
    """Return when the last picture of the growing file has this colour, by default in the middle."""
    deadline = time.monotonic() + 30
    while True:
        await asyncio.sleep(0.1)
        copy.write_bytes(path.read_bytes())
        begun = b"mdat" in copy.read_bytes()
        if begun and is_near(colours(copy, *place)[-1], pixel):
            return
        assert time.monotonic() < deadline, f"{pixel} is not in the file"


async def show_all_colours(display: str, path: Path) -> dict[str, tuple[float, float]]:
    """Show all colours, one after the other; when each was painted, and when it was in the file."""
    shown = {}
    for colour, pixel in COLOURS.items():
        before = time.time()
        await asyncio.to_thread(paint, display, colour)
        await filmed(path, path.with_name("copy.mp4"), pixel)
        shown[colour] = (before, time.time())
    return shown


async def test_the_video_shows_what_changed_and_when(
    display: tuple[str, Path], screen: Screen, tmp_path: Path
) -> None:
    path = tmp_path / "recording.mp4"
    began = time.time()
    async with filming(screen, path) as video:
        painted = await show_all_colours(display[0], path)
    lasted = time.time() - began

    found = probe(path)
    stream = found["streams"][0]
    assert (stream["codec_name"], stream["width"], stream["height"]) == ("h264", 1920, 1080)
    assert stream["pix_fmt"] == "yuv420p"
    shown, at = colours(path), steps(path)
    assert at[0] == 0
    assert at == sorted(set(at))
    assert len(at) <= len(COLOURS) + 3
    for name, pixel in COLOURS.items():
        index = next(i for i, colour in enumerate(shown) if is_near(colour, pixel))
        before, after = painted[name]
        assert before - 1 / 15 <= video.started_at + at[index] / 15 <= after
    assert is_near(shown[-1], COLOURS["white"])
    assert painted["white"][0] - video.started_at < float(found["format"]["duration"]) < lasted + 3 / 15
    assert video.problems == []


async def test_the_file_plays_at_every_moment_of_the_recording(
    display: tuple[str, Path], screen: Screen, tmp_path: Path
) -> None:
    path, copy = tmp_path / "recording.mp4", tmp_path / "copy.mp4"
    async with filming(screen, path):
        for colour, pixel in COLOURS.items():
            await asyncio.to_thread(paint, display[0], colour)
            await filmed(path, copy, pixel)


async def test_where_we_cannot_convert_colours_ffmpeg_does(
    display: tuple[str, Path], screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda _name: None)
    path = tmp_path / "recording.mp4"
    async with filming(screen, path) as video:
        for colour, pixel in COLOURS.items():
            await asyncio.to_thread(paint, display[0], colour)
            await filmed(path, tmp_path / "copy.mp4", pixel)
    assert video.problems == []


async def test_filming_has_begun_only_when_the_encoder_is_up(screen: Screen, tmp_path: Path) -> None:
    slow, is_up = tmp_path / "slow-ffmpeg", tmp_path / "is-up"
    slow.write_text(f'#!/bin/sh\nsleep 0.5\n: >"{is_up}"\nexec ffmpeg "$@"\n')
    slow.chmod(0o755)
    async with filming(screen, tmp_path / "recording.mp4", ffmpeg=str(slow)):
        assert is_up.exists()


async def test_a_killed_encoder_is_replaced_and_reported(
    display: tuple[str, Path], screen: Screen, tmp_path: Path
) -> None:
    path, told = tmp_path / "recording.mp4", []
    async with filming(screen, path, on_problem=told.append) as video:
        await asyncio.to_thread(paint, display[0], "red")
        await asyncio.sleep(0.3)
        assert video.encoder_pid is not None
        os.kill(video.encoder_pid, signal.SIGKILL)
        await asyncio.to_thread(paint, display[0], "lime")
        await asyncio.sleep(0.3)
    await asyncio.sleep(0)
    assert len(video.problems) == 1
    assert "ffmpeg ended with -9" in video.problems[0]
    assert told == video.problems
    assert steps(path) == sorted(set(steps(path)))
    assert is_near(colours(path)[-1], COLOURS["lime"])


FILM = """
import asyncio, sys
from pathlib import Path
from clawbench.environments.browser.screen import Screen
from clawbench.environments.browser.video import Video
async def film():
    await Video(Screen(Path(sys.argv[1])), Path(sys.argv[2])).start()
    print("filming", flush=True)
    await asyncio.sleep(60)
asyncio.run(film())
"""


async def test_the_file_plays_after_the_recording_process_was_killed(
    display: tuple[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "recording.mp4"
    command = [sys.executable, "-c", FILM, str(display[1]), str(path)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"filming\n"
        for colour in ("red", "blue"):
            await asyncio.to_thread(paint, display[0], colour)
            await filmed(path, tmp_path / "copy.mp4", COLOURS[colour])
    finally:
        process.kill()
        await process.wait()
    assert steps(path) == sorted(set(steps(path)))
    assert is_near(colours(path)[-1], COLOURS["blue"])


async def test_quiet_ends_when_the_screen_stands_still(
    display: tuple[str, Path], screen: Screen, tmp_path: Path
) -> None:
    async def flicker() -> None:
        while True:
            for colour in COLOURS:
                await asyncio.to_thread(paint, display[0], colour)

    async with filming(screen, tmp_path / "recording.mp4") as video:
        assert await video.quiet(0.2, 5.0)
        flickering = asyncio.create_task(flicker())
        await asyncio.sleep(0.2)
        assert not await video.quiet(0.8, 1.0)
        flickering.cancel()
        assert await video.quiet(0.3, 5.0)


async def test_a_missing_ffmpeg_is_named(screen: Screen, tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match="ffmpeg is missing"):
        await Video(screen, tmp_path / "recording.mp4", ffmpeg="/nonexistent/ffmpeg").start()


async def test_a_full_disk_is_reported_and_what_was_written_still_plays(
    display: tuple[str, Path], screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "recording.mp4"
    real, limit = os.pwrite, 1 << 40

    def small_disk(fd: int, data: Any, offset: int) -> int:
        if offset >= limit:
            raise OSError(28, "No space left on device")
        return real(fd, data[: limit - offset], offset)

    async with filming(screen, path) as video:
        await asyncio.to_thread(paint, display[0], "red")
        await filmed(path, tmp_path / "copy.mp4", COLOURS["red"])
        limit = path.stat().st_size + 40
        monkeypatch.setattr("clawbench.environments.browser.mp4.os.pwrite", small_disk)
        await asyncio.to_thread(paint, display[0], "lime")
    assert video.problems == [f"{path}: No space left on device"]
    assert is_near(colours(path)[-1], COLOURS["red"])
