"""Compressed bodies, unpacked to their last byte. Pure."""

from __future__ import annotations

import zlib

LARGEST_UNPACKED = 256 << 20
MOST_MEMBERS = 1000
PIECE = 64 << 10
"""Bytes unpacked at once: what is left of them after a member's end is copied."""
GZIP_START = b"\x1f\x8b\x08"
ZLIB_WINDOW = 0x78
WINDOWS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}


def unpack(raw: bytes, encoding: str) -> bytes | None:
    """Undo Content-Encoding, last first; None where this cannot be done."""
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        unpacked = raw if name == "identity" else _inflate(raw, name)
        if unpacked is None:
            return None
        raw = unpacked
    return raw if encoding else _unpack_unsaid(raw)


def _unpack_unsaid(raw: bytes) -> bytes:
    """Pages pack without saying so, where their server knows."""
    if raw.startswith(GZIP_START):
        return _inflate(raw, "gzip") or raw
    if raw[:1] == bytes((ZLIB_WINDOW,)) and int.from_bytes(raw[:2]) % 31 == 0:
        return _inflate_all(raw, zlib.MAX_WBITS) or raw
    return raw


def _inflate(raw: bytes, encoding: str) -> bytes | None:
    tries = (_inflate_all(raw, window) for window in WINDOWS.get(encoding, ()))
    return next((unpacked for unpacked in tries if unpacked is not None), None)


def _inflate_all(raw: bytes, window: int) -> bytes | None:
    """All members, one after the other: servers join them."""
    unpacked: list[bytes] = []
    rest, size = memoryview(raw), 0
    for _ in range(MOST_MEMBERS):
        unpacker = zlib.decompressobj(window)
        while not unpacker.eof:
            piece = rest[:PIECE]
            try:
                unpacked.append(unpacker.decompress(piece, LARGEST_UNPACKED - size))
            except zlib.error:
                return None
            size += len(unpacked[-1])
            if not piece or size >= LARGEST_UNPACKED:
                return None
            rest = rest[len(piece) - len(unpacker.unused_data) :]
        if not rest:
            return b"".join(unpacked)
    return None
