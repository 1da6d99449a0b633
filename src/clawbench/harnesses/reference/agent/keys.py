"""Characters as the key events that a keyboard would send."""

from __future__ import annotations

from typing import Any

CONTROL = 2

NAMED: dict[str, dict[str, Any]] = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    "Backspace": {"key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8},
}


def key_of(character: str) -> dict[str, Any]:
    """The fields of a key event that types this character."""
    if character in "\r\n":
        return NAMED["Enter"]
    if character == "\t":
        return NAMED["Tab"]
    fields: dict[str, Any] = {"key": character, "text": character, "unmodifiedText": character}
    if character == " ":
        fields |= {"code": "Space", "windowsVirtualKeyCode": 32}
    elif character.isascii() and character.isalpha():
        fields |= {"code": f"Key{character.upper()}", "windowsVirtualKeyCode": ord(character.upper())}
    elif character.isascii() and character.isdigit():
        fields |= {"code": f"Digit{character}", "windowsVirtualKeyCode": ord(character)}
    return fields


def events_of(character: str) -> list[dict[str, Any]]:
    key = key_of(character)
    released = {name: value for name, value in key.items() if name not in ("text", "unmodifiedText")}
    return [{"type": "keyDown", **key}, {"type": "keyUp", **released}]


SELECT_ALL: list[dict[str, Any]] = [
    {
        "type": "rawKeyDown",
        "key": "a",
        "code": "KeyA",
        "windowsVirtualKeyCode": 65,
        "modifiers": CONTROL,
        "commands": ["selectAll"],
    },
    {"type": "keyUp", "key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65, "modifiers": CONTROL},
]
