"""What a viewer holds down, read from the RFB messages it sends; and how to let go of it. Pure."""

from __future__ import annotations

import struct

VERSION_LENGTH = 12
FIRST_WITH_A_CHOICE = b"RFB 003.007\n"
"""From here on the client chooses its kind of security, in one byte."""
KEY, POINTER = 4, 5
KEY_EVENT, POINTER_EVENT = struct.Struct(">BBxxI"), struct.Struct(">BBHH")
FIXED = {0: 20, 3: 10, KEY: KEY_EVENT.size, POINTER: POINTER_EVENT.size, 150: 10, 250: 4, 255: 12}
"""Lengths of: pixel format, update request, key, pointer, continuous updates, power, key with its place."""
COUNTED = {2: (">xxH", 4), 6: (">xxxxi", 1), 248: (">xxxxxxxxB", 1), 251: (">xxxxxxBx", 16)}
"""Heads that say how many pieces follow, and how long one is: encodings, clipboard, fence, desktop size."""


class HeldDown:
    """Follows one client from its first byte on; of a message it does not know it loses track for good."""

    def __init__(self) -> None:
        self._unread = bytearray()
        self._greeted = self._lost = False
        self._keys: dict[int, None] = {}
        self._pointer = (0, 0, 0)

    def sent(self, data: bytes) -> None:
        """The client has sent this."""
        if self._lost:
            return
        self._unread += data
        while (length := self._next_length()) is not None and len(self._unread) >= length:
            self._take(bytes(self._unread[:length]))
            del self._unread[:length]

    def releases(self) -> bytes:
        """Messages that let go of all that is held."""
        keys = b"".join(KEY_EVENT.pack(KEY, 0, key) for key in self._keys)
        buttons, x, y = self._pointer
        return keys + (POINTER_EVENT.pack(POINTER, 0, x, y) if buttons else b"")

    def _next_length(self) -> int | None:
        """Bytes of the message that begins here; None where too little of it is there to tell."""
        if not self._unread or self._lost:
            return None
        if not self._greeted:
            has_choice = bytes(self._unread[:VERSION_LENGTH]) >= FIRST_WITH_A_CHOICE
            return VERSION_LENGTH + has_choice + 1
        kind = self._unread[0]
        if kind in FIXED:
            return FIXED[kind]
        if kind not in COUNTED:
            self._lost = True
            return None
        head, piece = COUNTED[kind]
        size = struct.calcsize(head)
        if len(self._unread) < size:
            return None
        # A clipboard of the extended kind says its length as a negative number.
        return size + abs(int(struct.unpack_from(head, self._unread)[0])) * piece

    def _take(self, message: bytes) -> None:
        if not self._greeted:
            self._greeted = True
        elif message[0] == KEY:
            _, down, key = KEY_EVENT.unpack(message)
            self._keys.pop(key, None)
            if down:
                self._keys[key] = None
        elif message[0] == POINTER:
            _, buttons, x, y = POINTER_EVENT.unpack(message)
            self._pointer = (buttons, x, y)
