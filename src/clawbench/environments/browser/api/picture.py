"""Is this a PNG that every reader can show? Pure."""

from __future__ import annotations

import io
import struct

from PIL import Image

MOST_PIXELS = 64_000_000
"""More than any screen has."""
HEAD = struct.Struct(">8s4x4sII")
"""The start of every PNG: its signature, and the first chunk with width and height."""


def check_png(data: bytes) -> None:
    """ValueError says why the bytes are no whole PNG of a sane size."""
    if len(data) < HEAD.size:
        raise ValueError("is not a PNG")
    signature, chunk, width, height = HEAD.unpack_from(data)
    if (signature, chunk) != (b"\x89PNG\r\n\x1a\n", b"IHDR"):
        raise ValueError("is not a PNG")
    if width * height > MOST_PIXELS:
        raise ValueError(f"has more than {MOST_PIXELS} pixels")
    try:
        with _opened(data) as picture:
            picture.verify()  # the file's structure and sums, to its last byte
        with _opened(data) as picture:
            picture.load()  # what is packed in it
    except Exception as error:
        raise ValueError(f"is not a whole PNG ({error or type(error).__name__})") from None


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=["PNG"])
