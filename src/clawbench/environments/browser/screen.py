"""The display's frame buffer, read where Xvfb keeps it: looking at the screen never asks the browser."""

from __future__ import annotations

import ctypes
import mmap
import struct
import threading
from pathlib import Path

from clawbench.environments.browser.png import PngEncoder
from clawbench.errors import EnvironmentFailedError

FRAME_BUFFER = "Xvfb_screen0"
XWD_HEADER = struct.Struct(">25I")
XWD_VERSION = 7
COLOUR_ENTRY_SIZE = 12

_libc = ctypes.CDLL(None)
_libc.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_libc.memcmp.restype = ctypes.c_int


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
        self.size: tuple[int, int] = (header[4], header[5])
        """Width and height in pixels."""
        self.stride: int = header[12]
        """Bytes from one row to the next."""
        self.frame_size = self.stride * header[5]
        self._offset = header[0] + colours * COLOUR_ENTRY_SIZE
        self._anchor: ctypes.c_char | None = ctypes.c_char.from_buffer(self._map, self._offset)
        self._address = ctypes.addressof(self._anchor)
        self._lock = threading.Lock()

    def snapshot(self) -> bytes:
        """A copy of all pixels."""
        return self._map[self._offset : self._offset + self.frame_size]

    def copy_into(self, buffer: bytearray) -> None:
        """Like `snapshot`, into a buffer of `frame_size` bytes: no fresh memory, a third of the time."""
        with self._lock:
            if self._anchor is not None:
                ctypes.memmove(_address_of(buffer), self._address, self.frame_size)

    def differs(self, frame: bytes | bytearray) -> bool:
        """Whether the screen shows anything else than `frame`. Exact; stops at the first difference."""
        other = frame if isinstance(frame, bytes) else _address_of(frame)
        with self._lock:
            return self._anchor is not None and bool(_libc.memcmp(self._address, other, self.frame_size))

    def png(self, frame: bytes) -> bytes:
        """`frame` as a PNG file; takes a moment, so call it off the event loop."""
        return PngEncoder(self.size, self.stride).encode(frame)

    def close(self) -> None:
        with self._lock:
            self._anchor = None
            self._map.close()


def _address_of(buffer: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
