"""A patch as somebody wrote it into a message. Taken as it is: whether it applies is for git to say. Pure."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)^[ \t]*(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE)  # fmt: skip  # noqa: E501
_BEGIN = re.compile(r"^(diff --git |--- \S)", re.MULTILINE)
_DIFFS = frozenset(("diff", "patch", "udiff"))


def patch_in_message(text: str) -> str:
    """The last fenced block that is a diff; without one, all from the first line that begins one."""
    text = text.replace("\r\n", "\n") if "\r\n" in text and "\n" not in text.replace("\r\n", "") else text
    blocks = [
        block["body"]
        for block in _FENCE.finditer(text)
        if block["language"].lower() in _DIFFS or _BEGIN.search(block["body"])
    ]
    if blocks:
        return blocks[-1]
    begin = _BEGIN.search(text)
    if begin is None:
        return ""
    rest = text[begin.start() :].split("\n```", 1)[0]
    return rest if rest.endswith("\n") else rest + "\n"
