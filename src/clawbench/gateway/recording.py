"""What is written down of an answer, so that it can be given again byte for byte. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

_KEPT = frozenset(
    (
        "content-type",
        "content-length",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
        "request-id",
        "x-request-id",
        "openai-version",
        "openai-processing-ms",
        "x-clawbench-scripted",
    )
)
_KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")


def kept_headers(headers: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Those that clients act upon; others may say whose account it is."""
    return [
        [name.lower(), value]
        for name, value in headers
        if name.lower() in _KEPT or name.lower().startswith(_KEPT_PREFIXES)
    ]


def shown_body(raw: bytes, *, streamed: bool) -> Any:
    """The body to be read: text for a stream, JSON where it is JSON."""
    text = raw.decode("utf-8", "replace")
    if streamed or not text:
        return text or None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def exact_fields(chunks: Sequence[bytes], shown: Any) -> dict[str, Any]:
    """What has to stand beside the body to get its bytes back: their pieces, and how they were written."""
    raw = b"".join(chunks)
    fields: dict[str, Any] = {}
    if len(chunks) > 1:
        fields["chunks"] = [len(chunk) for chunk in chunks]
    if raw != written(shown):
        try:
            fields["raw"] = raw.decode()
        except UnicodeDecodeError:
            fields["raw_base64"] = base64.b64encode(raw).decode()
    return fields


def written(shown: Any) -> bytes:
    """A body's bytes where nothing stands beside it."""
    if shown is None:
        return b""
    if isinstance(shown, str):
        return shown.encode("utf-8", "surrogatepass")
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def pieces(raw: bytes, lengths: Sequence[int]) -> list[bytes]:
    """The chunks as they came; ValueError where the lengths are not those of this body."""
    if not lengths:
        return [raw] if raw else []
    if sum(lengths) != len(raw) or any(length < 0 for length in lengths):
        raise ValueError("do not add up to the length of the response")
    cut, start = [], 0
    for length in lengths:
        cut.append(raw[start : start + length])
        start += length
    return cut
