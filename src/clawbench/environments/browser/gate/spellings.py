"""One address can be spelled in many ways; a pattern that fits one of them is meant for all. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

UNRESERVED = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
ESCAPED_TEXT = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
ADDRESS = re.compile(
    r"(?P<scheme>[a-z]+://)(?:[^/?#]*@)?(?P<host>[^/?#@]*?)\.?(?P<rest>(?::\d*)?(?:[/?#].*)?)"
)
FOREIGN = "xn--"
LONGEST_LABEL = 63


def spellings(url: str) -> Iterator[str]:
    """The address as it is, in its plainest form, with its escapes in either case, and as people write it.

    The plainest has no credentials, no dot after the host, and no escapes for characters that need none.
    """
    plain = _plainest(url)
    capitals = ESCAPE.sub(lambda escape: escape[0].upper(), plain)
    small = ESCAPE.sub(lambda escape: escape[0].lower(), plain)
    yield from dict.fromkeys((url, plain, capitals, small, _as_people_write(plain)))


def odd_spellings() -> tuple[str, ...]:
    """Wildcards of which one fits every address whose plainest form is another."""
    escapes = {form for letter in UNRESERVED for form in (f"%{ord(letter):02X}", f"%{ord(letter):02x}")}
    return tuple(f"*{part}*" for part in ("@", "./", ".:", FOREIGN, *sorted(escapes)))


def _plainest(url: str) -> str:
    if found := ADDRESS.fullmatch(url):
        url = found["scheme"] + found["host"] + found["rest"]
    return ESCAPE.sub(_unescaped, url)


def _unescaped(escape: re.Match[str]) -> str:
    letter = chr(int(escape[1], 16))
    return letter if letter in UNRESERVED else escape[0]


def _as_people_write(url: str) -> str:
    """With letters beyond ASCII, in the host as in what follows."""
    if FOREIGN in url and (found := ADDRESS.fullmatch(url)):
        url = found["scheme"] + _in_own_letters(found["host"]) + found["rest"]
    return ESCAPED_TEXT.sub(_decoded, url)


def _in_own_letters(host: str) -> str:
    """Each label by itself, by today's rules for names: Python's own codec goes by those of 2003."""
    return ".".join(_label_in_own_letters(label) for label in host.split("."))


def _label_in_own_letters(label: str) -> str:
    if not label.startswith(FOREIGN) or len(label) > LONGEST_LABEL:
        return label
    try:
        return label.removeprefix(FOREIGN).encode("ascii").decode("punycode")
    except ValueError:
        return label


def _decoded(escapes: re.Match[str]) -> str:
    try:
        return bytes.fromhex(escapes[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return escapes[0]
