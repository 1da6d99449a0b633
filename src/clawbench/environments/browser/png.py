"""PNG files of a screen, made band by band: what did not change is not packed again. Pure."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from isal import isal_zlib as zlib
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
BAND_ROWS = 30
LEVEL = 1
ZLIB_HEADER = b"\x78\x01"
LAST_BLOCK = b"\x03\x00"
ADLER_MODULUS = 65521
RGB, EIGHT_BITS = 2, 8


def band_starts(height: int) -> range:
    """The first row of each band."""
    return range(0, height, BAND_ROWS)


@dataclass(frozen=True)
class PackedBand:
    """Some rows, packed so that they can stand beside any others in one deflate stream."""

    data: bytes
    adler: int
    length: int


class PngEncoder:
    """Encodes one picture after the other from the bands in which it differs from the one before."""

    def __init__(self, size: tuple[int, int], stride: int) -> None:
        self._width, self._height = size
        self._stride = stride
        self._bands: dict[int, PackedBand] = {}

    def encode(self, changed: Mapping[int, bytes]) -> bytes:
        """A complete PNG file; `changed` maps a band's first row to its BGRX pixels, at first all of them."""
        self._bands |= {top: self._pack(pixels) for top, pixels in changed.items()}
        bands = [self._bands[top] for top in band_starts(self._height)]
        header = struct.pack(">IIBBBBB", self._width, self._height, EIGHT_BITS, RGB, 0, 0, 0)
        return b"".join(
            (SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", _stream(bands)), _chunk(b"IEND", b""))
        )

    def _pack(self, pixels: bytes) -> PackedBand:
        rows = len(pixels) // self._stride
        image = Image.frombuffer("RGB", (self._width, rows), pixels, "raw", "BGRX", self._stride, 1)
        # One spare byte at the end of each row is the next row's filter type: none.
        scanlines = b"\0" + image.tobytes("raw", "RGB", self._width * 3 + 1)[:-1]
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(scanlines) + packer.flush(zlib.Z_FULL_FLUSH)
        return PackedBand(packed, zlib.adler32(scanlines), len(scanlines))


def _stream(bands: list[PackedBand]) -> bytes:
    adler = 1
    for band in bands:
        adler = join_adler(adler, band.adler, band.length)
    return b"".join((ZLIB_HEADER, *(band.data for band in bands), LAST_BLOCK, struct.pack(">I", adler)))


def join_adler(first: int, second: int, second_length: int) -> int:
    """The Adler-32 sum of two pieces put together, from their sums and the second's length."""
    first_low, first_high = first & 0xFFFF, first >> 16
    second_low, second_high = second & 0xFFFF, second >> 16
    low = (first_low + second_low - 1) % ADLER_MODULUS
    high = (first_high + second_high + second_length * (first_low - 1)) % ADLER_MODULUS
    return high << 16 | low


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
