"""A screen for pictures that a browser elsewhere sends: drawn here, read like any other screen."""

from __future__ import annotations

import base64
import binascii
import ctypes
import io
import threading
from collections.abc import Callable

from PIL import Image, UnidentifiedImageError

from clawbench.environments.browser.screen import Screen

BYTES_PER_PIXEL = 4


class Canvas(Screen):
    """A picture of fixed size; what does not fill it stands in the middle, on black."""

    def __init__(self, size: tuple[int, int]) -> None:
        stride = size[0] * BYTES_PER_PIXEL
        self._pixels = bytearray(stride * size[1])
        self._show(ctypes.c_char.from_buffer(self._pixels), size, stride)

    def draw(self, pixels: bytes) -> None:
        """Show these BGRX pixels, of the canvas's size."""
        with self._lock:
            if self._anchor is not None:
                ctypes.memmove(self._address, pixels, self.frame_size)

    def close(self) -> None:
        with self._lock:
            self._anchor = None


def fitted(picture: bytes, size: tuple[int, int]) -> bytes:
    """A JPEG or PNG file as BGRX pixels of the given size: made smaller where needed, never larger."""
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    if image.size != size:
        image.thumbnail(size)
        page, image = image, Image.new("RGB", size)
        image.paste(page, ((size[0] - page.width) // 2, (size[1] - page.height) // 2))
    return image.tobytes("raw", "BGRX")


class Painter:
    """Decodes pictures on a thread of its own; of those that wait only the latest is drawn."""

    def __init__(self, canvas: Canvas, on_drawn: Callable[[], None]) -> None:
        self._canvas, self._on_drawn = canvas, on_drawn
        self._next: str | None = None
        self._closing = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="screencast", daemon=True)
        self._thread.start()

    def paint(self, picture: str) -> None:
        """Draw a base64-encoded picture soon."""
        with self._change:
            self._next = picture
            self._change.notify()

    def close(self) -> None:
        """Draw what still waits, and end."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()

    def _work(self) -> None:
        while (picture := self._wait()) is not None:
            try:
                pixels = fitted(base64.b64decode(picture), self._canvas.size)
            except (UnidentifiedImageError, OSError, binascii.Error):
                continue
            self._canvas.draw(pixels)
            self._on_drawn()

    def _wait(self) -> str | None:
        with self._change:
            self._change.wait_for(lambda: self._next is not None or self._closing)
            picture, self._next = self._next, None
        return picture
