"""Pictures that come over the network, as a screen."""

from __future__ import annotations

import base64
import io
import threading

import pytest
from PIL import Image

from clawbench.environments.browser.remote.canvas import Canvas, Painter, fitted

SIZE = (64, 36)
RED, GREY = (250, 10, 20), (128, 128, 128)


def picture(size: tuple[int, int], colour: tuple[int, int, int], kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, kind)
    return file.getvalue()


def pixel(pixels: bytes | bytearray, x: int, y: int) -> tuple[int, int, int]:
    at = (y * SIZE[0] + x) * 4
    return pixels[at + 2], pixels[at + 1], pixels[at]


def test_a_picture_of_the_right_size_fills_the_canvas() -> None:
    pixels = fitted(picture(SIZE, RED), SIZE)
    assert {pixel(pixels, x, y) for x in range(SIZE[0]) for y in range(SIZE[1])} == {RED}


@pytest.mark.parametrize(
    ("given", "covered"),
    [((32, 36), (32, 36)), ((64, 18), (64, 18)), ((128, 36), (64, 18)), ((16, 9), (16, 9))],
)
def test_another_stands_in_the_middle_and_is_never_enlarged(
    given: tuple[int, int], covered: tuple[int, int]
) -> None:
    pixels = fitted(picture(given, RED), SIZE)
    red = [(x, y) for x in range(SIZE[0]) for y in range(SIZE[1]) if pixel(pixels, x, y) != (0, 0, 0)]
    left, top = (SIZE[0] - covered[0]) // 2, (SIZE[1] - covered[1]) // 2
    assert (min(red), max(red)) == ((left, top), (left + covered[0] - 1, top + covered[1] - 1))
    assert len(red) == covered[0] * covered[1]


def test_a_canvas_reads_like_a_screen() -> None:
    canvas = Canvas(SIZE)
    frame = canvas.snapshot()
    assert set(frame) == {0}
    assert not canvas.differs(frame)
    canvas.draw(fitted(picture(SIZE, RED), SIZE))
    assert canvas.differs(frame)
    assert canvas.update(frame)
    assert pixel(frame, 5, 5) == RED
    assert Image.open(io.BytesIO(canvas.png(frame))).convert("RGB").getpixel((3, 3)) == RED
    canvas.close()
    canvas.draw(fitted(picture(SIZE, GREY), SIZE))
    assert not canvas.differs(frame), "a closed canvas stands still"


def test_the_painter_draws_the_latest_and_survives_rubbish() -> None:
    canvas, drawn = Canvas(SIZE), threading.Event()
    painter = Painter(canvas, drawn.set)
    painter.paint("!!!")
    painter.paint(base64.b64encode(b"no picture").decode())
    painter.paint(base64.b64encode(picture(SIZE, GREY, "JPEG")).decode())
    assert drawn.wait(5)
    painter.paint(base64.b64encode(picture(SIZE, RED)).decode())
    painter.close()
    assert pixel(canvas.snapshot(), 60, 30) == RED, "what waited is drawn before the end"
