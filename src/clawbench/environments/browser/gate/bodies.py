"""What a request carries: its body read from CDP, decompressed and parsed. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit

LARGEST_UNPACKED = 256 << 20
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
TEXT_FRAME = 1
EVENT_PREFIX = re.compile(rb"\d[\w\-/,]*(?=[\[{])")
"""What Socket.IO and its like put before the JSON of a message."""
LOOKS_LIKE_FORM = re.compile(r"[^\s=&{}\[\]\"<>]+=[^\s]*")


@dataclass(frozen=True)
class Body:
    """A request's body; `value` is what requests.jsonl and interception.json show."""

    value: Any = None
    """JSON value, form dict, raw string (a data: URL where the bytes are no text) or None."""
    complete: bool = True
    """False: a part could not be read (stream, file on disk, unknown compression)."""
    form: bool = False
    """A list under a key stands for a repeated field."""
    raw: bytes = field(default=b"", compare=False, repr=False)
    """The bytes as sent, unpacked."""

    def other_readings(self) -> Iterator[Body]:
        """What a server that does not go by the declared type could take the bytes for."""
        if self.raw.lstrip()[:1] in (b"{", b"[") and (self.form or isinstance(self.value, str)):
            with suppress(ValueError, RecursionError):
                yield Body(json.loads(self.raw), self.complete)
        if self.raw.startswith(b"--"):
            boundary = self.raw.partition(b"\r\n")[0].removeprefix(b"--")
            yield Body(_gather(_multipart(self.raw, boundary, self.complete)), self.complete, True)
        elif isinstance(self.value, str) and LOOKS_LIKE_FORM.fullmatch(self.value):
            yield Body(_gather(parse_qsl(self.value, keep_blank_values=True)), self.complete, True)


def read_body(request: Mapping[str, Any]) -> Body:
    """The body of a CDP `Network.Request` as `Fetch.requestPaused` reports it."""
    headers = {name.lower(): str(value) for name, value in request.get("headers", {}).items()}
    raw, complete = _raw_body(request)
    if raw is None or not (raw or complete):
        return Body(complete=complete)
    content_type = headers.get("content-type", "")
    unpacked = _unpack(raw, headers.get("content-encoding", ""))
    if unpacked is None:
        return Body(_text(raw, content_type), complete=False)
    value, form = _parse(unpacked, content_type, complete)
    return Body(value, complete, form, unpacked)


def read_frame(opcode: int, payload: str) -> Body:
    """A WebSocket message as CDP reports it: text as it is, anything else in base64."""
    if opcode == TEXT_FRAME:
        raw = payload.encode("utf-8", "surrogatepass")
    else:
        try:
            raw = base64.b64decode(payload, validate=True)
        except binascii.Error:
            return Body(complete=False)
    raw = _unpack(raw, "") or raw
    message = raw[prefix.end() :] if (prefix := EVENT_PREFIX.match(raw)) else raw
    value, _ = _parse(message, "", complete=True)
    return Body(_text(raw, "") if isinstance(value, str) else value)


def query_params(url: str) -> dict[str, Any]:
    """The query as a dict; a repeated name holds a list."""
    try:
        query = urlsplit(url).query
    except ValueError:
        query = url.partition("?")[2].partition("#")[0]
    return _gather(parse_qsl(query, keep_blank_values=True))


def _raw_body(request: Mapping[str, Any]) -> tuple[bytes | None, bool]:
    """The bytes, and whether they are all of them: file and stream entries come without content."""
    if entries := request.get("postDataEntries"):
        parts = [entry.get("bytes") for entry in entries]
        try:
            return b"".join(
                base64.b64decode(part, validate=True) for part in parts if part
            ), None not in parts
        except binascii.Error:
            return None, False
    if (text := request.get("postData")) is not None:
        return text.encode("utf-8", "surrogatepass"), True
    return None, not request.get("hasPostData", False)


def _unpack(raw: bytes, encoding: str) -> bytes | None:
    """Undo Content-Encoding, last first; None where this cannot be done."""
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        unpacked = raw if name == "identity" else _inflate(raw, name)
        if unpacked is None:
            return None
        raw = unpacked
    if not encoding and raw.startswith(b"\x1f\x8b\x08"):
        return _inflate(raw, "gzip") or raw
    return raw


def _inflate(raw: bytes, encoding: str) -> bytes | None:
    windows = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}.get(encoding, ())
    for window in windows:
        unpacker = zlib.decompressobj(window)
        try:
            unpacked = unpacker.decompress(raw, LARGEST_UNPACKED)
        except zlib.error:
            continue
        if unpacker.eof:
            return unpacked
    return None


def _parse(raw: bytes, content_type: str, complete: bool) -> tuple[Any, bool]:
    """The value of these bytes, and whether it is a form."""
    header = _header(content_type)
    kind = header.get_content_type() if content_type else ""
    if kind == FORM:
        return _gather(parse_qsl(_text(raw, content_type), keep_blank_values=True)), True
    if kind == MULTIPART and (boundary := header.get_param("boundary")):
        return _gather(_multipart(raw, str(boundary).encode(), complete)), True
    if kind.endswith("json") or raw.lstrip()[:1] in (b"{", b"["):
        try:
            return json.loads(raw), False
        except (ValueError, RecursionError):
            pass
    text = _text(raw, content_type)
    if kind == "text/plain" and (fields := _plain_form(text)) is not None:
        return _gather(fields), True
    return text, False


def _header(content_type: str) -> Message:
    header = Message()
    header["Content-Type"] = content_type.replace("\r", " ").replace("\n", " ")
    return header


def _text(raw: bytes, content_type: str) -> str:
    charset = _header(content_type).get_content_charset() or "utf-8"
    for name in (charset, "utf-8"):
        try:
            return raw.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    kind = content_type.split(";", maxsplit=1)[0].strip() or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(raw).decode()}"


def _gather(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    gathered: dict[str, list[Any]] = {}
    for name, value in fields:
        gathered.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in gathered.items()}


def _plain_form(text: str) -> list[tuple[str, str]] | None:
    """A form sent as text/plain: every line is `name=value` and ends with CRLF."""
    if not text.endswith("\r\n"):
        return None
    lines = text[:-2].split("\r\n")
    if not all("=" in line for line in lines):
        return None
    return [(name, value) for name, _, value in (line.partition("=") for line in lines)]


def _multipart(raw: bytes, boundary: bytes, complete: bool) -> Iterable[tuple[str, Any]]:
    """Name and value of each part; a file is described, not inlined (size None: it could not be read)."""
    for part in (b"\r\n" + raw).split(b"\r\n--" + boundary)[1:]:
        if part.startswith(b"--"):
            return
        head, separator, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not separator:
            continue
        headers = _part_headers(head)
        disposition = headers.get("content-disposition", "")
        name, filename = _parameter(disposition, "name"), _parameter(disposition, "filename")
        kind = headers.get("content-type", "")
        if filename is None:
            yield name or "", _text(content, kind)
        else:
            size = len(content) if content or complete else None
            yield name or "", {"filename": filename, "content_type": kind, "size": size}


def _part_headers(head: bytes) -> dict[str, str]:
    lines = head.decode("utf-8", "replace").split("\r\n")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _parameter(disposition: str, name: str) -> str | None:
    """A parameter as browsers write it: quoted, with only the quote and line ends percent-encoded."""
    if extended := re.search(rf"[;\s]{name}\*=(?:UTF-8|utf-8)''([^;\s]*)", disposition):
        return unquote_to_bytes(extended[1]).decode("utf-8", "replace")
    found = re.search(rf'[;\s]{name}=(?:"((?:\\.|[^"\\])*)"|([^;\s]*))', disposition)
    if found is None:
        return None
    value = found[1] if found[1] is not None else found[2]
    return re.sub(r"%(22|0D|0A)", lambda code: chr(int(code[1], 16)), value)
