"""The display's frame buffer, read where Xvfb keeps it: looking at the screen never asks the browser."""

from __future__ import annotations

import ctypes
import mmap
import struct
import threading
from collections.abc import Collection
from pathlib import Path

from clawbench.environments.browser.calm import Calm
from clawbench.environments.browser.pixels import address_of, copy, differ
from clawbench.environments.browser.png import BAND_ROWS, PngEncoder, band_starts
from clawbench.errors import EnvironmentFailedError

FRAME_BUFFER = "Xvfb_screen0"
XWD_HEADER = struct.Struct(">25I")
XWD_VERSION = 7
COLOUR_ENTRY_SIZE = 12


class Screen:
    """What is visible now, as rows of BGRX pixels. The caller has waited until the display is up.

    Usable from several threads. Once closed it stands still: it differs from nothing.
    """

    def __init__(self, fbdir: Path) -> None:
        path = fbdir / FRAME_BUFFER
        with path.open("rb") as file:
            # A private writable map shows the file's changes as long as it is not written to, and unlike a
            # read-only one it has an address that ctypes can take.
            self._map = mmap.mmap(
                file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE
            )
        header = XWD_HEADER.unpack_from(self._map)
        version, depth, bits, colours = header[1], header[3], header[11], header[19]
        if version != XWD_VERSION or depth != 24 or bits != 32:
            self._map.close()
            raise EnvironmentFailedError(
                f"{path}: not a 24-bit frame buffer. Start Xvfb with `-screen 0 WIDTHxHEIGHTx24 -fbdir`"
            )
        offset = header[0] + colours * COLOUR_ENTRY_SIZE
        self._show(ctypes.c_char.from_buffer(self._map, offset), (header[4], header[5]), header[12])

    def _show(self, anchor: ctypes.c_char, size: tuple[int, int], stride: int) -> None:
        """The pixels begin at `anchor`, which also keeps their memory alive."""
        self.size = size
        """Width and height in pixels."""
        self.stride = stride
        """Bytes from one row to the next."""
        self.frame_size = stride * size[1]
        self._bands = [
            (top, top * stride, min(BAND_ROWS, size[1] - top) * stride) for top in band_starts(size[1])
        ]
        """First row, offset and length in bytes of each band."""
        self.band_rows = {top: length // stride for top, _, length in self._bands}
        """The first row of each band, and how many it has."""
        self.calm = Calm()
        """Says when to look, to all who do."""
        self._anchor: ctypes.c_char | None = anchor
        self._address = ctypes.addressof(anchor)
        self._lock = threading.Lock()

    def snapshot(self) -> bytearray:
        """A copy of all pixels."""
        frame = bytearray(self.frame_size)
        with self._lock:
            if self._anchor is not None:
                copy(address_of(frame), self._address, self.frame_size)
        return frame

    def differs(self, frame: bytearray) -> bool:
        """Whether the screen shows anything else than `frame`. Exact; stops at the first difference."""
        with self._lock:
            return self._anchor is not None and differ(self._address, address_of(frame), self.frame_size)

    def update(self, frame: bytearray) -> list[int]:
        """Bring `frame` up to date; returns the first rows of the bands that changed."""
        start, changed = address_of(frame), []
        with self._lock:
            for top, offset, length in self._bands if self._anchor is not None else ():
                if differ(self._address + offset, start + offset, length):
                    copy(start + offset, self._address + offset, length)
                    changed.append(top)
        return changed

    def bands(self, frame: bytearray, tops: Collection[int] | None = None) -> dict[int, bytes]:
        """Copies of the bands of `frame` that begin in these rows, or of all."""
        chosen = self._bands if tops is None else [band for band in self._bands if band[0] in tops]
        return {top: bytes(memoryview(frame)[start : start + length]) for top, start, length in chosen}

    def png(self, frame: bytearray) -> bytes:
        """`frame` as a PNG file; takes a moment, so call it off the event loop."""
        return PngEncoder(self.size, self.stride).encode(self.bands(frame))

    def close(self) -> None:
        with self._lock:
            self._anchor = None
            self._map.close()
