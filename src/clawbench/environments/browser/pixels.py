"""Comparing and copying pixels outside the interpreter lock, so that no other thread waits for it."""

from __future__ import annotations

import ctypes

_libc = ctypes.CDLL(None)
_libc.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_libc.memcmp.restype = ctypes.c_int


def address_of(buffer: bytearray) -> int:
    """Where the buffer's first byte is; good as long as the buffer lives and is not resized."""
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def differ(first: int, second: int, length: int) -> bool:
    """Whether the bytes at the two addresses differ."""
    return bool(_libc.memcmp(first, second, length))


def copy(target: int, source: int, length: int) -> None:
    ctypes.memmove(target, source, length)


def changed_rows(first: bytearray, second: bytearray, stride: int) -> range:
    """From the first to the last row in which two pictures differ; empty where they are the same."""
    one, other, rows = address_of(first), address_of(second), range(len(first) // stride)

    def is_changed(row: int) -> bool:
        return differ(one + row * stride, other + row * stride, stride)

    top = next(filter(is_changed, rows), None)
    return range(0) if top is None else range(top, next(filter(is_changed, reversed(rows))) + 1)


def changed_width(first: bytearray, second: bytearray, stride: int, rows: range) -> int:
    """How many columns of four-byte pixels the difference in these rows is wide."""
    difference = 0
    for row in rows:
        span = slice(row * stride, (row + 1) * stride)
        difference |= int.from_bytes(first[span], "little") ^ int.from_bytes(second[span], "little")
    if not difference:
        return 0
    leftmost, rightmost = (difference & -difference).bit_length() - 1, difference.bit_length() - 1
    return rightmost // 32 - leftmost // 32 + 1
