"""What a request carries: its body read from CDP, decompressed and parsed. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

from clawbench.environments.browser.gate.forms import Form, multipart, plain, urlencoded
from clawbench.environments.browser.gate.json_text import load_json, looks_like_json
from clawbench.environments.browser.gate.packing import unpack

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
PLAIN_FORM = "text/plain"
"""Of forms without a charset, of what scripts send as text with one."""
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
    fields: Form | None = field(default=None, compare=False, repr=False)
    """What the form has, as bytes."""

    def other_readings(self) -> Iterator[Body]:
        """What a server that does not go by the declared type could take the bytes for."""
        for data in self._as_data():
            yield Body(data, self.complete)
        if (form := self._as_form()) is not None:
            for values in form.readings():
                yield Body(values, self.complete, True)

    def _as_data(self) -> Iterator[Any]:
        if isinstance(self.value, dict | list) and not self.form:
            with suppress(ValueError, RecursionError):
                yield load_json(self.raw, first_counts=True)
            return
        texts = (
            self.raw,
            self.value.encode("utf-8", "surrogatepass") if isinstance(self.value, str) else b"",
        )
        for text in dict.fromkeys(texts):
            if looks_like_json(text):
                with suppress(ValueError, RecursionError):
                    yield load_json(text)
                with suppress(ValueError, RecursionError):
                    yield [load_json(line) for line in text.splitlines() if line.strip()]

    def _as_form(self) -> Form | None:
        if self.fields is not None:
            return self.fields
        if self.raw.startswith(b"--"):
            boundary = self.raw.partition(b"\n")[0].rstrip(b"\r").removeprefix(b"--")
            return multipart(self.raw, boundary, self.complete)
        if isinstance(self.value, str) and LOOKS_LIKE_FORM.fullmatch(self.value):
            return urlencoded(self.raw)
        return None


def read_body(request: Mapping[str, Any]) -> Body:
    """The body of a CDP `Network.Request` as `Fetch.requestPaused` reports it."""
    headers = {name.lower(): str(value) for name, value in request.get("headers", {}).items()}
    raw, complete = _raw_body(request)
    if raw is None or not (raw or complete):
        return Body(complete=complete)
    content_type = headers.get("content-type", "")
    unpacked = unpack(raw, headers.get("content-encoding", ""))
    if unpacked is None:
        return Body(_text(raw, content_type), complete=False)
    return _parse(unpacked, content_type, complete)


def read_frame(opcode: int, payload: str) -> Body:
    """A WebSocket message as CDP reports it: text as it is, anything else in base64."""
    if opcode == TEXT_FRAME:
        raw = payload.encode("utf-8", "surrogatepass")
    else:
        try:
            raw = base64.b64decode(payload, validate=True)
        except binascii.Error:
            return Body(complete=False)
    raw = unpack(raw, "") or raw
    message = raw[prefix.end() :] if (prefix := EVENT_PREFIX.match(raw)) else raw
    value = _parse(message, "", complete=True).value
    return Body(_text(raw, "") if isinstance(value, str) else value)


def query_params(url: str) -> dict[str, Any]:
    """The query as a dict; a repeated name holds a list."""
    return _query(url).shown()


def query_readings(url: str) -> Iterator[dict[str, Any]]:
    """What a server could take the query for, in whichever charset it reads."""
    return _query(url).readings()


def _query(url: str) -> Form:
    try:
        query = urlsplit(url).query
    except ValueError:
        query = url.partition("?")[2].partition("#")[0]
    return urlencoded(query.encode("utf-8", "surrogatepass"))


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


def _parse(raw: bytes, content_type: str, complete: bool) -> Body:
    """What these bytes say; `complete` is whether they are all of them."""
    header = _header(content_type)
    kind = header.get_content_type() if content_type else ""
    form = None
    if kind == FORM:
        form = urlencoded(raw)
    elif kind == MULTIPART and (boundary := header.get_param("boundary")):
        form = multipart(raw, str(boundary).encode(), complete)
    elif kind.endswith("json") or looks_like_json(raw):
        try:
            return Body(_json(raw, header), complete, raw=raw)
        except RecursionError:
            return Body(_text(raw, content_type), complete=False, raw=raw)
        except ValueError:
            pass
    if form is None and kind == PLAIN_FORM:
        form = plain(raw, of_a_form=content_type.strip().lower() == PLAIN_FORM)
    if form is None:
        return Body(_text(raw, content_type), complete, raw=raw)
    return Body(form.shown(), complete, True, raw, form)


def _json(raw: bytes, header: Message) -> Any:
    """In the charset that JSON has to have, else in that which is declared."""
    try:
        return load_json(raw)
    except UnicodeDecodeError:
        charset = header.get_content_charset() or "latin-1"
    try:
        return load_json(raw.decode(charset))
    except LookupError:
        return load_json(raw.decode("latin-1"))


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
