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
