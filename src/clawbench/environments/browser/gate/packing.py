"""Compressed bodies, unpacked to their last byte. Pure."""

from __future__ import annotations

import zlib

LARGEST_UNPACKED = 256 << 20
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
    members, size = [], 0
    while raw:
        unpacker = zlib.decompressobj(window)
        try:
            members.append(unpacker.decompress(raw, LARGEST_UNPACKED - size))
        except zlib.error:
            return None
        size += len(members[-1])
        if not unpacker.eof or size >= LARGEST_UNPACKED:
            return None
        raw = unpacker.unused_data
    return b"".join(members) if members else None
