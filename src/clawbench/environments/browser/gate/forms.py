"""Forms, in whichever charset their page is written: nothing in them says which. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from clawbench.environments.browser.gate.json_text import load_loosely, looks_like_json

LEGACY_CHARSETS = (
    *("cp1252", "cp932", "euc_jp", "gb18030", "big5hkscs", "cp949", "cp1251", "koi8-u", "cp1250"),
    *("iso8859-2", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "latin-1"),
)
"""Those of the Encoding Standard that pages are still written in, by Python's names."""
ASCII = re.IGNORECASE | re.ASCII
BRACKETED = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])+)")
OWN_BOUNDARY = re.compile(rb"^--([^\r\n]+)\r?\n[\w-]+:", re.MULTILINE)
FOLD = re.compile(r"\r?\n[ \t]+")
NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class File:
    """A file in a form; `size` is None where it could not be read."""

    name: bytes
    content_type: str
    content: bytes
    size: int | None

    def described(self, charset: str) -> dict[str, Any]:
        return {"filename": self.name.decode(charset), "content_type": self.content_type, "size": self.size}

    def data(self) -> Any:
        """What a file of JSON holds; None for any other."""
        if looks_like_json(self.content):
            with suppress(ValueError, RecursionError):
                return load_loosely(self.content)
        return None


Fields = tuple[tuple[bytes, bytes | File], ...]


@dataclass(frozen=True)
class Form:
    """Names and values in their order, as bytes."""

    fields: Fields
    decoded: Fields = ()
    """The same without the Content-Transfer-Encoding of parts, where some have one."""

    def shown(self) -> dict[str, Any]:
        """As the record has it: lists for repeated names, files described, what is no text in base64."""
        return gather((text(name), _shown(value)) for name, value in self.fields)

    def readings(self) -> Iterator[dict[str, Any]]:
        """All that a server could take it for: in each charset that fits, and with files of JSON opened."""
        yield from _readings(self.fields)
        if self.decoded:
            yield from _readings(self.decoded)


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


def multipart(raw: bytes, boundary: bytes, complete: bool) -> Form:
    """`complete` is False where files may have been left out."""
    parts = list(_parts(raw, boundary))
    plainly = [(headers, _decoded(content, headers)) for headers, content in parts]
    fields = tuple(_field(headers, content, complete) for headers, content in parts)
    if plainly == parts:
        return Form(fields)
    return Form(fields, tuple(_field(headers, content, complete) for headers, content in plainly))


def own_boundary(raw: bytes) -> bytes:
    """That of the first line that begins a part, whatever is declared; empty where there is none."""
    found = OWN_BOUNDARY.search(raw)
    return found[1].rstrip() if found else b""


def gather(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    gathered: dict[str, list[Any]] = {}
    for name, value in fields:
        gathered.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in gathered.items()}


def unfold(flat: dict[str, Any]) -> dict[str, Any]:
    """Names like `order[items][0]` and `tags[]` as the nested data that servers make of them."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        written = BRACKETED.fullmatch(name)
        *above, last = [written[1], *written[2][1:-1].split("][")] if written else [name]
        if above and not last:
            *above, last = above
        inner = nested
        for key in above:
            inner = inner.setdefault(key or "0", {})
            if not isinstance(inner, dict):
                break  # a plain field has that name already
        else:
            inner.setdefault(last or "0", value)
    return nested


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
    if isinstance(value, File):
        return {"filename": text(value.name), "content_type": value.content_type, "size": value.size}
    return text(value)


def _in(value: bytes | File, charset: str) -> Any:
    return value.described(charset) if isinstance(value, File) else value.decode(charset)


def _readings(fields: Fields) -> Iterator[dict[str, Any]]:
    for charset in ("utf-8", *LEGACY_CHARSETS):
        try:
            decoded = [(name.decode(charset), _in(value, charset)) for name, value in fields]
        except UnicodeDecodeError:
            continue
        flat = gather(decoded)
        yield flat
        if (nested := unfold(flat)) != flat:
            yield nested
        data = [value.data() if isinstance(value, File) else None for _, value in fields]
        if any(data):
            yield gather((name, held or value) for (name, value), held in zip(decoded, data, strict=True))
        if charset == "utf-8":
            return


def _parts(raw: bytes, boundary: bytes) -> Iterator[tuple[dict[str, str], bytes]]:
    """Headers and content of each. Lines end as that of the first boundary does: with CRLF, or LF alone."""
    first = re.search(rb"^--" + re.escape(boundary) + rb"[ \t]*(\r?\n)", raw, re.MULTILINE)
    if first is None:
        return
    end = first[1]
    for part in raw[first.end() - len(end) :].split(end + b"--" + boundary):
        if part.startswith(b"--"):
            return
        head, separator, content = part.removeprefix(end).partition(end + end)
        if separator:
            yield _headers(head), content


def _field(headers: dict[str, str], content: bytes, complete: bool) -> tuple[bytes, bytes | File]:
    disposition, kind = headers.get("content-disposition", ""), headers.get("content-type", "")
    name, filename = _parameter(disposition, "name"), _parameter(disposition, "filename")
    if filename is None:
        return name or b"", content
    return name or b"", File(filename, kind, content, len(content) if content or complete else None)


def _decoded(content: bytes, headers: dict[str, str]) -> bytes:
    """As mail readers, and servers made of their parts, see it; browsers encode nothing."""
    match headers.get("content-transfer-encoding", "").lower():
        case "quoted-printable":
            return binascii.a2b_qp(content)
        case "base64":
            with suppress(binascii.Error):
                return binascii.a2b_base64(content)
    return content


def _headers(head: bytes) -> dict[str, str]:
    lines = FOLD.sub(" ", head.decode("latin-1")).replace("\r\n", "\n").split("\n")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _parameter(disposition: str, name: str) -> bytes | None:
    """A parameter as browsers write it: quoted, with only the quote and line ends percent-encoded."""
    if extended := re.search(rf"[;\s]{name}\*=UTF-8''([^;\s]*)", disposition, ASCII):
        return unquote_to_bytes(extended[1])
    quoted = rf'[;\s]{name}=(?:"(.*?)"(?=\s*(?:;|$))|([^;\s"]*))'
    found = re.search(quoted, disposition, ASCII)
    if found is None:
        return None
    value = found[1] if found[1] is not None else found[2]
    return re.sub(r"%(22|0D|0A)", lambda code: chr(int(code[1], 16)), value).encode("latin-1")
