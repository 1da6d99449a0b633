"""Fills an X display with one colour, speaking the X protocol itself: no X client program is needed."""

from __future__ import annotations

import socket
import struct

COLOURS = {"red": 0xFF0000, "lime": 0x00FF00, "blue": 0x0000FF, "white": 0xFFFFFF, "black": 0}


def paint(display: str, colour: str) -> None:
    """Return when the server has drawn the colour, a name of COLOURS or `#rrggbb`."""
    pixel = COLOURS[colour] if colour in COLOURS else int(colour.removeprefix("#"), 16)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(f"/tmp/.X11-unix/X{display.removeprefix(':')}")
        root = first_root(server)
        background = struct.pack("<BBHIII", 2, 0, 4, root, 1 << 1, pixel)
        clear = struct.pack("<BBHIhhHH", 61, 0, 4, root, 0, 0, 0, 0)
        ask_back = struct.pack("<BBH", 43, 0, 1)
        server.sendall(background + clear + ask_back)
        read(server, 32)


def first_root(server: socket.socket) -> int:
    server.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
    status, _, _, length = struct.unpack("<BBxxHH", read(server, 8))
    assert status == 1, "the X server refused the connection"
    setup = read(server, length * 4)
    (vendor,) = struct.unpack_from("<H", setup, 16)
    formats = setup[21]
    (root,) = struct.unpack_from("<I", setup, 32 + (vendor + 3) // 4 * 4 + formats * 8)
    return int(root)


def read(server: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = server.recv(size - len(data))
        assert part, "the X server went away"
        data += part
    return data
