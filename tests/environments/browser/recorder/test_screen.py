"""The frame buffer of a real Xvfb, and PNG files made of it."""

from __future__ import annotations

import asyncio
import io
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from clawbench.environments.browser.pixels import changed_rows, changed_width
from clawbench.environments.browser.png import BAND_ROWS, PngEncoder, band_starts
from clawbench.environments.browser.recorder.screenshots import MOST_WAITING_IN_MEMORY, Screenshots
from clawbench.environments.browser.screen import Screen
from clawbench.errors import EnvironmentFailedError
from tests.environments.browser.recorder.paint import paint

SIZE = (400, 95)


def picture(seed: int) -> Image.Image:
    image = Image.new("RGB", SIZE, "white")
    draw, dice = ImageDraw.Draw(image), random.Random(seed)
    for _ in range(30):
        place = (dice.randrange(SIZE[0]), dice.randrange(SIZE[1]))
        draw.text(place, "screen", fill=(dice.randrange(256), 20, 200))
    return image


def test_png_files_hold_exactly_the_pixels_also_where_only_a_part_changed() -> None:
    stride = SIZE[0] * 4
    encoder, image, known = PngEncoder(SIZE, stride), picture(1), b""
    for step in range(5):
        image.putpixel((step, step * 23), (1, 2, 3))
        pixels = image.tobytes("raw", "BGRX")
        spans = {top: slice(top * stride, (top + BAND_ROWS) * stride) for top in band_starts(SIZE[1])}
        changed = {top: pixels[span] for top, span in spans.items() if pixels[span] != known[span]}
        assert len(changed) == (4 if step == 0 else 1)
        packed, known = encoder.encode(changed), pixels
        Image.open(io.BytesIO(packed)).verify()
        decoded = Image.open(io.BytesIO(packed))
        assert decoded.size == SIZE
        assert decoded.tobytes() == image.tobytes()


def test_the_extent_of_a_change_is_found() -> None:
    before, stride = bytearray(40 * 100), 40
    for row in (0, 29, 30, 59, 60, 99):
        after = bytearray(before)
        after[stride * row + 7] = 1
        assert changed_rows(before, after, stride) == range(row, row + 1)
    assert changed_rows(before, bytearray(before), stride) == range(0)
    after = bytearray(before)
    after[stride * 7 + 4 * 3] = after[stride * 9 + 4 * 5 + 3] = 1
    assert changed_rows(before, after, stride) == range(7, 10)
    assert changed_width(before, after, stride, range(7, 10)) == 3
    assert changed_width(before, after, stride, range(7, 8)) == 1
    assert changed_width(before, after, stride, range(8, 9)) == 0


@pytest.fixture
def screen(display: tuple[str, Path]) -> Any:
    screen = Screen(display[1])
    yield screen
    screen.close()


def test_the_screen_is_read_as_it_is_now(display: tuple[str, Path], screen: Screen) -> None:
    assert screen.size == (1920, 1080)
    for colour, pixel in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        before = screen.snapshot()
        assert not screen.differs(before)
        paint(display[0], colour)
        assert screen.differs(before)
        buffer = bytearray(screen.frame_size)
        screen.update(buffer)
        assert not screen.differs(buffer)
        assert buffer == screen.snapshot()
        image = Image.open(io.BytesIO(screen.png(screen.snapshot())))
        assert image.size == (1920, 1080)
        assert image.getcolors() == [(1920 * 1080, pixel)]


def test_a_display_of_another_kind_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "Xvfb_screen0").write_bytes(bytes(4096))
    with pytest.raises(EnvironmentFailedError, match="Start Xvfb with"):
        Screen(tmp_path)


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


@pytest.mark.anyio
@pytest.mark.parametrize("in_memory", [MOST_WAITING_IN_MEMORY, 0])
async def test_no_screenshot_is_lost_where_they_wait_in_memory_or_on_disk(
    display: tuple[str, Path], screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    module = "clawbench.environments.browser.recorder.screenshots"
    monkeypatch.setattr(f"{module}.MOST_WAITING_IN_MEMORY", in_memory)
    directory = tmp_path / "screenshots"
    directory.mkdir()
    screenshots = Screenshots(screen, directory)
    names, colours = [], []
    for number in range(30):
        colour = (number * 3 % 256, 40, 90)
        paint(display[0], "#{:02x}{:02x}{:02x}".format(*colour))
        names += [screenshots.take(1000 + number // 3), screenshots.take(1000 + number // 3)]
        colours += [colour, colour]
        await asyncio.to_thread(wait_until, lambda: screenshots.taken == len(names))  # noqa: B023
    await screenshots.close()
    assert names[:3] == ["1000.png", "1000-2.png", "1000-3.png"]
    assert sorted(os.listdir(directory)) == sorted(names)
    for name, colour in zip(names, colours, strict=True):
        assert Image.open(directory / name).getpixel((960, 540)) == colour
    assert screenshots.problems == []


@pytest.mark.anyio
async def test_actions_of_one_moment_share_a_look(
    display: tuple[str, Path], screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clawbench.environments.browser.calm.CALM_AFTER_S", 60)
    monkeypatch.setattr("clawbench.environments.browser.calm.AT_MOST_S", 2)
    screenshots = Screenshots(screen, tmp_path)
    before = [screenshots.take(1), screenshots.take(2)]
    paint(display[0], "lime")
    after = screenshots.take(3)
    await screenshots.close()
    files = [(tmp_path / name).stat().st_ino for name in (*before, after)]
    assert len(set(files)) == 1
    assert Image.open(tmp_path / after).getpixel((960, 540)) == (0, 255, 0)
