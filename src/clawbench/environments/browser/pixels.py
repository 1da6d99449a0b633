"""Comparing and copying pixels outside the interpreter lock, so that no other thread waits for it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

ROWS_AT_ONCE = 30

_libc = ctypes.CDLL(None, use_errno=True)
_libc.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_libc.memcmp.restype = ctypes.c_int


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_libc.vmsplice.argtypes = (ctypes.c_int, ctypes.POINTER(_Piece), ctypes.c_ulong, ctypes.c_uint)
_libc.vmsplice.restype = ctypes.c_ssize_t


def address_of(buffer: bytearray) -> int:
    """Where the buffer's first byte is; good as long as the buffer lives and is not resized."""
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def differ(first: int, second: int, length: int) -> bool:
    """Whether the bytes at the two addresses differ."""
    return bool(_libc.memcmp(first, second, length))


def copy(target: int, source: int, length: int) -> None:
    ctypes.memmove(target, source, length)


def lend(pipe: int, address: int, length: int) -> int:
    """Put the pages of some memory into a pipe, uncopied; returns how many bytes of it fitted in.

    They may change only after the reader took them. OSError where this kind of memory or file cannot do that.
    """
    piece = _Piece(address, length)
    lent: int = _libc.vmsplice(pipe, ctypes.byref(piece), 1, 0)
    if lent < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return lent


def changed_rows(first: bytearray, second: bytearray, stride: int) -> range:
    """From the first to the last row in which two pictures differ; empty where they are the same."""
    one, other, rows = address_of(first), address_of(second), range(len(first) // stride)
    blocks = [rows[start : start + ROWS_AT_ONCE] for start in rows[::ROWS_AT_ONCE]]

    def is_changed(some: range) -> bool:
        return differ(one + some[0] * stride, other + some[0] * stride, len(some) * stride)

    def first_changed(blocks: Iterable[range], step: int) -> int | None:
        block = next(filter(is_changed, blocks), ())
        return next((row for row in block[::step] if is_changed(range(row, row + 1))), None)

    top, bottom = first_changed(blocks, 1), first_changed(reversed(blocks), -1)
    return range(0) if top is None or bottom is None else range(top, bottom + 1)


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
