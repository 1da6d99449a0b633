"""What a request carries: its body read from CDP, decompressed and parsed. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from clawbench.environments.browser.gate.forms import Form, plain, urlencoded
from clawbench.environments.browser.gate.json_text import load_json, load_loosely, looks_like_json
from clawbench.environments.browser.gate.media_type import MediaType
from clawbench.environments.browser.gate.multipart import multipart, own_boundary
from clawbench.environments.browser.gate.packing import unpack

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
BINARY = "application/octet-stream"
PLAIN_FORM = "text/plain"
"""Of forms without a charset, of what scripts send as text with one."""
TEXT_FRAME = 1
EVENT_PREFIX = re.compile(rb"\d[\w\-/,]*(?=[\[{])")
"""What Socket.IO and its like put before the JSON of a message."""
LOOKS_LIKE_FORM = re.compile(rb"[^\x00-\x20=&{}\[\]\"<>]+=[^\x00-\x20]*")


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
    understood: bool = field(default=True, compare=False)
    """False: its type says JSON or a form in parts, and it is none. Another reading may make sense of it."""

    def other_readings(self) -> Iterator[Body]:
        """What a server that does not go by the declared type could take the bytes for."""
        for data in self._as_data():
            yield Body(data, self.complete)
        if (form := self._as_form()) is not None:
            for values in form.readings():
                yield Body(values, self.complete, True, understood=bool(values) and form.understood)

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
            if looks_like_json(text) and (data := _loose_data(text)) is not None:
                yield data

    def _as_form(self) -> Form | None:
        if self.fields is not None:
            return self.fields
        if self.raw.startswith(b"--") and (boundary := own_boundary(self.raw)):
            return multipart(self.raw, boundary, self.complete)
        if isinstance(self.value, str) and LOOKS_LIKE_FORM.fullmatch(self.raw):
            return urlencoded(self.raw)
        return None


def read_body(request: Mapping[str, Any]) -> Body:
    """The body of a CDP `Network.Request` as `Fetch.requestPaused` reports it."""
    headers = {name.lower(): str(value) for name, value in request.get("headers", {}).items()}
    raw, complete = _raw_body(request)
    if raw is None or not (raw or complete):
        return Body(complete=complete)
    sent_as = MediaType(headers.get("content-type", ""))
    unpacked = unpack(raw, headers.get("content-encoding", ""))
    if unpacked is None:
        return Body(_text(raw, sent_as), complete=False)
    return _parse(unpacked, sent_as, complete)


def read_frame(opcode: int, payload: str) -> Body:
    """A WebSocket message as CDP reports it: text as it is, anything else in base64."""
    if opcode == TEXT_FRAME:
        raw = payload.encode("utf-8", "surrogatepass")
    else:
        try:
            raw = base64.b64decode(payload, validate=True)
        except ValueError:
            return Body(complete=False)
    raw = unpack(raw, "") or raw
    message = raw[prefix.end() :] if (prefix := EVENT_PREFIX.match(raw)) else raw
    body = _parse(message, MediaType(), complete=True)
    return Body(_text(raw, MediaType()) if isinstance(body.value, str) else body.value, body.complete)


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
        except ValueError:
            return None, False
    if (text := request.get("postData")) is not None:
        return text.encode("utf-8", "surrogatepass"), True
    return None, not request.get("hasPostData", False)


def _parse(raw: bytes, sent_as: MediaType, complete: bool) -> Body:
    """What these bytes say; `complete` is whether they are all of them."""
    form = None
    if sent_as.kind == FORM:
        form = urlencoded(raw)
    elif sent_as.kind == MULTIPART and (declared := sent_as.boundaries):
        form = _in_parts(raw, declared, complete)
    if form is None and (sent_as.is_json or looks_like_json(raw)):
        try:
            return Body(_json(raw, sent_as), complete, raw=raw)
        except RecursionError:
            return Body(_text(raw, sent_as), complete=False, raw=raw)
        except ValueError:
            pass
    if form is None and sent_as.kind == PLAIN_FORM:
        form = plain(raw, of_a_form=sent_as.header.strip().lower() == PLAIN_FORM)
    if form is None:
        understood = not raw.strip() or not (sent_as.is_json or sent_as.kind == MULTIPART)
        return Body(_text(raw, sent_as), complete, raw=raw, understood=understood)
    return Body(form.shown(), complete, True, raw, form, form.understood)


def _in_parts(raw: bytes, declared: list[bytes], complete: bool) -> Form | None:
    """A form in parts; None where there is none. Of several boundaries, the first or the last counts."""
    if raw.strip() in (b"", *(b"--" + boundary + b"--" for boundary in declared)):
        return Form(())
    ends = dict.fromkeys((declared[0], declared[-1]))
    found = [form for boundary in ends if (form := multipart(raw, boundary, complete)).fields]
    if not found:
        return _in_own_parts(raw, declared, complete)
    first, *others = found
    return replace(first, others=(*first.others, *(fields for form in others for fields in form.all)))


def _in_own_parts(raw: bytes, declared: list[bytes], complete: bool) -> Form | None:
    """By a boundary that is not declared; where a declared one is there as well, servers may go by that."""
    own = own_boundary(raw)
    form = multipart(raw, own, complete) if own else Form(())
    in_doubt = any(b"--" + boundary in raw for boundary in (declared[0], declared[-1]))
    return replace(form, understood=form.understood and not in_doubt) if form.fields else None


def _json(raw: bytes, sent_as: MediaType) -> Any:
    """In the charset that JSON has to have, else in that which is declared."""
    try:
        return load_json(raw)
    except UnicodeDecodeError:
        charset = sent_as.charset or "latin-1"
    try:
        return load_json(raw.decode(charset))
    except LookupError:
        return load_json(raw.decode("latin-1"))


def _loose_data(text: bytes) -> Any:
    """What forgiving servers find in it, whole or line by line; None where that is nothing."""
    with suppress(ValueError, RecursionError):
        return load_loosely(text)
    lines = text.splitlines()
    if len(lines) > 1:
        with suppress(ValueError, RecursionError):
            return [load_loosely(line) for line in lines if line.strip()]
    return None


def _text(raw: bytes, sent_as: MediaType) -> str:
    for charset in (sent_as.charset or "utf-8", "utf-8"):
        try:
            return raw.decode(charset)
        except (LookupError, ValueError):
            continue
    kind = sent_as.header.partition(";")[0].strip() or BINARY
    return f"data:{kind};base64,{base64.b64encode(raw).decode()}"
