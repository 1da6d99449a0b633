"""Forms, in whichever charset their page is written: nothing in them says which. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from clawbench.environments.browser.gate.brackets import nested
from clawbench.environments.browser.gate.json_text import load_loosely, looks_like_json

LEGACY_CHARSETS = (
    *("cp1252", "cp932", "euc_jp", "gb18030", "big5hkscs", "cp949", "cp1251", "koi8-u", "cp1250"),
    *("iso8859-2", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "latin-1"),
    *("iso2022_jp", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-10", "iso8859-14"),
    *("iso8859-15", "iso8859-16", "cp866", "mac_roman", "mac_cyrillic"),
)
"""Those of the Encoding Standard in which a page can be written, by Python's names."""
ESCAPE = b"\x1b"
"""With it, one of them writes all its letters in ASCII."""
NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class File:
    """A file in a form; `size` is None where it could not be read."""

    name: bytes
    content_type: str
    content: bytes
    size: int | None

    def described(self, name: str) -> dict[str, Any]:
        return {"filename": name, "content_type": self.content_type, "size": self.size}

    def data(self) -> Any:
        """What a file of JSON holds; None for any other."""
        if looks_like_json(self.content):
            with suppress(ValueError, RecursionError):
                return load_loosely(self.content)
        return None


Field = tuple[bytes, bytes | File]
Fields = tuple[Field, ...]


@dataclass(frozen=True)
class Form:
    """Names and values in their order, as bytes."""

    fields: Fields
    others: tuple[Fields, ...] = ()
    """What servers could find in the same bytes that read forms otherwise than browsers write them."""
    understood: bool = True
    """False: servers could find more in it than this."""

    @property
    def all(self) -> tuple[Fields, ...]:
        return self.fields, *self.others

    def shown(self) -> dict[str, Any]:
        """As the record has it: lists for repeated names, files described, what is no text in base64."""
        return gather((text(name), _shown(value)) for name, value in self.fields)

    def readings(self) -> Iterator[dict[str, Any]]:
        """All that a server could take it for: in each charset that fits, and with files of JSON opened."""
        for fields in self.all:
            yield from _readings(fields)


def urlencoded(raw: bytes) -> Form:
    pairs = (piece.partition(b"=") for piece in raw.replace(b"+", b" ").split(b"&") if piece)
    return Form(tuple((unquote_to_bytes(name), unquote_to_bytes(value)) for name, _, value in pairs))


def plain(raw: bytes, of_a_form: bool = False) -> Form | None:
    """A form sent as text/plain: every line is `name=value` and ends with CRLF.

    `of_a_form`: nothing but a form is likely to be sent so, and a line without a name goes on with the value
    before it, which had more than one line.
    """
    lines = raw[:-2].split(b"\r\n")
    if not raw.endswith(b"\r\n") or b"=" not in lines[0]:
        return None
    fields: list[tuple[bytes, list[bytes]]] = []
    for line in lines:
        name, separator, value = line.partition(b"=")
        if separator:
            fields.append((name, [value]))
        elif of_a_form:
            fields[-1][1].append(line)
        else:
            return None
    return Form(tuple((name, b"\r\n".join(value)) for name, value in fields))


def gather(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    gathered: dict[str, list[Any]] = {}
    for name, value in fields:
        gathered.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in gathered.items()}


def text(raw: bytes, kind: str = "application/octet-stream") -> str:
    """What is written here as far as one can tell; a data: URL where it is no text."""
    with suppress(UnicodeDecodeError):
        return raw.decode()
    if NO_TEXT.search(raw):
        return f"data:{kind};base64,{base64.b64encode(raw).decode()}"
    with suppress(UnicodeDecodeError):
        return raw.decode(LEGACY_CHARSETS[0])
    return raw.decode("latin-1")


def _shown(value: bytes | File) -> Any:
    return value.described(text(value.name)) if isinstance(value, File) else text(value)


def _in(value: bytes | File, texts: dict[bytes, str]) -> Any:
    return value.described(texts[value.name]) if isinstance(value, File) else texts[value]


def _readings(fields: Fields) -> Iterator[dict[str, Any]]:
    written = {name for name, _ in fields} | {
        value.name if isinstance(value, File) else value for _, value in fields
    }
    in_doubt = {piece for piece in written if ESCAPE in piece or not piece.isascii()}
    plain_texts = {piece: piece.decode() for piece in written - in_doubt}
    data = [value.data() if isinstance(value, File) else None for _, value in fields]
    for charset in ("utf-8", *LEGACY_CHARSETS) if in_doubt else ("utf-8",):
        try:
            texts = plain_texts | {piece: piece.decode(charset) for piece in in_doubt}
        except UnicodeDecodeError:
            continue
        decoded = [(texts[name], _in(value, texts)) for name, value in fields]
        flat = gather(decoded)
        yield flat
        yield from nested(decoded, flat)
        if any(data):
            yield gather((name, held or value) for (name, value), held in zip(decoded, data, strict=True))
