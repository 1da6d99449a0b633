"""What the encoder gets: the colours that ffmpeg itself would make, brought up to date band by band."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable

import pytest

from clawbench.environments.browser import colours
from clawbench.environments.browser.colours import Colours
from clawbench.environments.browser.frame import Frames
from clawbench.environments.browser.remote.canvas import Canvas

SIZE = WIDTH, HEIGHT = 320, 200
"""The last band is not as high as the others."""

pytestmark = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


def by_ffmpeg(pixels: bytes) -> bytes:
    """The conversion that the encoder's ffmpeg makes where it has to."""
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pixel_format", "bgr0", "-video_size", "320x200"]
    conversion = "scale=out_color_matrix=bt709:out_range=tv:flags=neighbor,format=yuv420p"
    command += ["-i", "-", "-vf", conversion, "-f", "rawvideo", "-"]
    return subprocess.run(command, input=pixels, capture_output=True, check=True).stdout


def test_every_picture_is_what_ffmpeg_would_make_of_the_whole_screen() -> None:
    dice, canvas = random.Random(1), Canvas(SIZE)
    frames = Frames(canvas)
    assert frames.format == "yuv420p"
    pixels = bytearray(canvas.frame_size)
    assert bytes(frames.picture) == by_ffmpeg(pixels)
    for number in range(12):
        for _ in range(number % 3):  # none, one or two places change
            start = dice.randrange(len(pixels) - 4000)
            pixels[start : start + 4000] = dice.randbytes(4000)
        canvas.draw(bytes(pixels))
        frames.take()
        assert frames.shown == pixels
        assert bytes(frames.picture) == by_ffmpeg(pixels)


def test_a_picture_on_its_way_stays_while_the_next_is_taken() -> None:
    canvas = Canvas(SIZE)
    frames = Frames(canvas)
    canvas.draw(b"\x10\x20\x30\x00" * (WIDTH * HEIGHT))
    frames.take()
    sent, kept = frames.picture, bytes(frames.picture)
    canvas.draw(b"\xf0\x20\x30\x00" * (WIDTH * HEIGHT))
    frames.take()
    assert frames.picture is not sent
    assert sent == kept


def not_installed(_name: str) -> None:
    return None


def of_another_kind(_name: str) -> str:
    return "libc.so.6"


@pytest.mark.parametrize("find_library", [not_installed, of_another_kind])
def test_without_the_library_the_encoder_gets_the_screen_itself(
    monkeypatch: pytest.MonkeyPatch, find_library: Callable[[str], str | None]
) -> None:
    monkeypatch.setattr(colours.ctypes.util, "find_library", find_library)
    canvas = Canvas(SIZE)
    frames = Frames(canvas)
    canvas.draw(b"\x10\x20\x30\x00" * (WIDTH * HEIGHT))
    frames.take()
    assert frames.format == "bgr0"
    assert bytes(frames.picture) == b"\x10\x20\x30\x00" * (WIDTH * HEIGHT)


def test_a_library_that_makes_other_colours_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "BT709", 5)  # the numbers of older television
    with pytest.raises(OSError, match="other colours"):
        Colours(SIZE, WIDTH * 4)


def test_odd_screens_are_left_to_ffmpeg() -> None:
    with pytest.raises(OSError, match="share a colour"):
        Colours((321, 200), 321 * 4)
