"""Reading server-sent events from the bytes of a finished or broken stream. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def data_of(raw: bytes) -> Iterator[str]:
    """The data of each complete event; one cut short at the end is left out."""
    lines = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    data: list[str] = []
    for line in lines[:-1]:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
    if data and not lines[-1] and raw.endswith((b"\n", b"\r")):
        # A last event whose closing empty line never came is whole as far as its lines are.
        yield "\n".join(data)
