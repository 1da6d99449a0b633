"""What a part of a form is called: as browsers write it, and as servers that read it otherwise do. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

OF_BROWSERS = re.compile(r'([^=;]*)(?:=(?:\s*"((?:[^"]++|"(?!\s*(?:;|\Z)))*+)"?|([^;]*)))?[^;]*(?:;|\Z)')
"""They write quotes as %22 and leave backslashes alone: a value ends with a quote before a semicolon."""
OF_MAIL = re.compile(r'(?:[^;"]++|"(?:[^"\\]++|\\.)*+"?)++', re.DOTALL)
OF_PHP = re.compile(r"""(?:[^;"']++|"(?:[^"\\]++|\\"|\\)*+"?|'(?:[^'\\]++|\\'|\\)*+'?)++""")
"""No semicolon in quotes ends a parameter, wherever they are."""
IN_QUOTES = re.compile(r'"((?:[^"\\]++|\\.)*+)', re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
PERCENT = re.compile(r"%(22|0D|0A)", re.IGNORECASE)
OTHER_QUOTES = re.compile(r"'([^']*)'?.*|<(.*)>", re.DOTALL)
"""Of PHP, and of Python."""
IN_PIECES = re.compile(r"(\w+)\*([0-9]{1,4})\*?", re.ASCII)
"""`name*0`, `name*1`: for what is too long for a line."""


@dataclass(frozen=True)
class Label:
    """One reading: of several names, each may count."""

    names: tuple[bytes, ...]
    filename: bytes | None
    """None: a field, no file."""


def labels(disposition: str) -> tuple[Label, ...]:
    """All that it could say; what browsers mean by it comes first."""
    readings = (_as_browsers(disposition), _in_turn(OF_MAIL, disposition), _in_turn(OF_PHP, disposition))
    return tuple(dict.fromkeys(map(_label, readings)))


Parameters = list[tuple[str, str]]


def _label(parameters: Parameters) -> Label:
    names = tuple(dict.fromkeys(_values(parameters, "name")))
    return Label(names, next(_values(parameters, "filename"), None))


def _as_browsers(disposition: str) -> Parameters:
    """Without semicolon or quotes, words count: the last one before a `=`, and the first one after it."""
    found = OF_BROWSERS.findall(disposition)
    return [
        (key.strip().rpartition(" ")[2].lower(), quoted or bare.strip().partition(" ")[0])
        for key, quoted, bare in found
    ]


def _in_turn(parameter: re.Pattern[str], disposition: str) -> Parameters:
    pairs = (written.partition("=") for written in parameter.findall(disposition))
    return [(key.strip().lower(), _unquoted(value.strip())) for key, _, value in pairs]


def _unquoted(value: str) -> str:
    quoted = IN_QUOTES.match(value)
    return ESCAPED.sub(r"\1", quoted[1]) if quoted else value


def _values(parameters: Parameters, wanted: str) -> Iterator[bytes]:
    """Every value of a parameter in every spelling, that which browsers would mean first."""
    for key, value in parameters:
        if key == f"{wanted}*":
            yield _extended(value)
    for key, value in parameters:
        if key == wanted:
            yield from (spelled.encode("latin-1") for spelled in _spellings(value))
    pieces: dict[int, str] = {}
    for key, value in parameters:
        if (found := IN_PIECES.fullmatch(key)) and found[1] == wanted:
            pieces.setdefault(int(found[2]), value)
    if pieces:
        yield _extended("".join(piece for _, piece in sorted(pieces.items())))


def _spellings(value: str) -> Iterator[str]:
    """Browsers encode quotes and line ends, other senders nothing."""
    yield PERCENT.sub(lambda code: chr(int(code[1], 16)), value)
    yield value
    if quoted := OTHER_QUOTES.fullmatch(value):
        yield quoted[1] or quoted[2] or ""


def _extended(value: str) -> bytes:
    """`charset'language'value`: which charset is tried out anyway."""
    return unquote_to_bytes(value.split("'", 2)[-1].encode("latin-1"))
