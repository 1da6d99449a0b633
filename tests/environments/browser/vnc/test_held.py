"""What a viewer holds down is known whatever else it sends, however its bytes come in."""

from __future__ import annotations

import struct

import pytest

from clawbench.environments.browser.vnc.held import HeldDown

GREETING = b"RFB 003.008\n\x01\x01"
CONTROL, LETTER = 0xFFE3, 0x61


def key(symbol: int, down: bool) -> bytes:
    return struct.pack(">BBxxI", 4, down, symbol)


def pointer(buttons: int, x: int, y: int) -> bytes:
    return struct.pack(">BBHH", 5, buttons, x, y)


OTHERS = b"".join(
    (
        bytes(20),
        struct.pack(">BxH3i", 2, 3, 0, 1, -239),
        struct.pack(">BBHHHH", 3, 1, 0, 0, 1920, 1080),
        struct.pack(">Bxxxi", 6, 3) + b"abc",
        struct.pack(">Bxxxi", 6, -8) + bytes(8),
        struct.pack(">BBHHHH", 150, 1, 0, 0, 1920, 1080),
        struct.pack(">BxxxIB", 248, 1, 4) + bytes(4),
        struct.pack(">BxHHBx", 251, 800, 600, 1) + bytes(16),
        struct.pack(">BBHII", 255, 0, 1, LETTER, 30),
    )
)


@pytest.mark.parametrize("size", [1, 3, 7, 10_000])
def test_held_keys_and_buttons_are_let_go(size: int) -> None:
    held = HeldDown()
    said = GREETING + key(CONTROL, True) + OTHERS + key(LETTER, True) + key(LETTER, False) + pointer(1, 5, 6)
    for start in range(0, len(said), size):
        held.sent(said[start : start + size])
    assert held.releases() == key(CONTROL, False) + pointer(0, 5, 6)


def test_nothing_is_sent_for_who_holds_nothing() -> None:
    held = HeldDown()
    held.sent(GREETING + key(LETTER, True) + pointer(1, 5, 6) + pointer(0, 7, 6) + key(LETTER, False))
    assert held.releases() == b""


def test_the_oldest_version_chooses_no_security() -> None:
    held = HeldDown()
    held.sent(b"RFB 003.003\n\x01" + key(CONTROL, True))
    assert held.releases() == key(CONTROL, False)


def test_what_was_held_before_an_unknown_message_is_let_go() -> None:
    held = HeldDown()
    held.sent(GREETING + key(CONTROL, True) + b"\x77" + key(LETTER, True))
    assert held.releases() == key(CONTROL, False)
