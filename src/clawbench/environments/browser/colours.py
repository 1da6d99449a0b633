"""From a screen's pixels to a video's: by ffmpeg's own library, and only where the screen changed."""

from __future__ import annotations

import ctypes
import ctypes.util
import weakref

from clawbench.environments.browser.pixels import address_of

SCREEN, VIDEO = "bgr0", "yuv420p"
"""Pixel formats, as ffmpeg calls them."""
NEAREST, BT709, FULL, LIMITED, UNCHANGED = 0x10, 1, 1, 0, 1 << 16
"""Taking the colour of every second row, instead of mixing rows, saves a sixth of all work."""
RED, RED_IN_VIDEO = b"\x00\x00\xff\x00", (63, 102, 240)

_Planes, _Strides = ctypes.c_void_p * 4, ctypes.c_int * 4


class Colours:
    """Converts some rows of a frame into their place in a picture. For one thread at a time."""

    def __init__(self, size: tuple[int, int], stride: int) -> None:
        """OSError where the library cannot be had, or does not do what it did when this was written."""
        self._size, self._stride = size, stride
        width, height = size
        if width % 2 or height % 2:
            raise OSError("two rows and two columns share a colour")
        self.picture_size = width * height * 3 // 2
        self._library, self._formats = _library()
        self._contexts: dict[int, int] = {}
        if self._converted(RED) != RED_IN_VIDEO:
            raise OSError("this libswscale makes other colours")

    def convert(self, frame: bytearray, picture: bytearray, top: int, rows: int) -> None:
        """Bring an even number of rows of `picture`, from an even one on, up to date with `frame`."""
        width, height = self._size
        luma, quarter = address_of(picture), width * height // 4
        blue = luma + 4 * quarter + top // 2 * (width // 2)
        if (context := self._contexts.get(rows)) is None:
            context = self._contexts[rows] = self._context(rows)
        self._library.sws_scale(
            context,
            *(_Planes(address_of(frame) + top * self._stride), _Strides(self._stride)),
            *(0, rows),
            *(_Planes(luma + top * width, blue, blue + quarter), _Strides(width, width // 2, width // 2)),
        )

    def _context(self, rows: int) -> int:
        one, other = ((self._size[0], rows, number) for number in self._formats)
        made: int | None = self._library.sws_getContext(*one, *other, NEAREST, None, None, None)
        if made is None:
            raise OSError("this libswscale converts no such pictures")
        weakref.finalize(self, self._library.sws_freeContext, made).atexit = False
        table = self._library.sws_getCoefficients(BT709)
        self._library.sws_setColorspaceDetails(made, table, FULL, table, LIMITED, 0, UNCHANGED, UNCHANGED)
        return made

    def _converted(self, pixel: bytes) -> tuple[int, ...]:
        picture = bytearray(self.picture_size)
        self.convert(bytearray(pixel * (self._stride // 2)), picture, 0, 2)
        pixels = self._size[0] * self._size[1]
        return picture[0], picture[pixels], picture[pixels + pixels // 4]


def _library() -> tuple[ctypes.CDLL, tuple[int, int]]:
    """libswscale, and its numbers for the two formats."""
    names = [ctypes.util.find_library(name) for name in ("swscale", "avutil")]
    if None in names:
        raise OSError("libswscale is not installed")
    scaling, basics = (ctypes.CDLL(name) for name in names)
    number, pointer = ctypes.c_int, ctypes.c_void_p
    try:
        scaling.sws_getContext.argtypes = (*[number] * 7, pointer, pointer, pointer)
        scaling.sws_getContext.restype = scaling.sws_getCoefficients.restype = pointer
        scaling.sws_setColorspaceDetails.argtypes = (pointer, pointer, number, pointer, *[number] * 4)
        scaling.sws_scale.argtypes = (pointer, pointer, pointer, number, number, pointer, pointer)
        scaling.sws_freeContext.argtypes = (pointer,)
        basics.av_get_pix_fmt.argtypes = (ctypes.c_char_p,)
        formats = basics.av_get_pix_fmt(SCREEN.encode()), basics.av_get_pix_fmt(VIDEO.encode())
    except AttributeError as missing:
        raise OSError(f"another libswscale: {missing}") from None
    return scaling, formats
