"""Bodies as CDP reports them, read back into what the page sent."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import pytest

from clawbench.environments.browser.gate.bodies import Body, query_params, read_body, read_frame

BOUNDARY = "----WebKitFormBoundaryabc"


def sent(*parts: bytes | None, kind: str = "", encoding: str = "") -> dict[str, Any]:
    entries = [{} if part is None else {"bytes": base64.b64encode(part).decode()} for part in parts]
    headers = {"Content-Type": kind, "Content-Encoding": encoding}
    return {
        "headers": {name: value for name, value in headers.items() if value},
        "hasPostData": True,
        "postDataEntries": entries,
    }


@pytest.mark.parametrize(
    ("raw", "kind", "value", "form"),
    [
        (b'{"a": {"b": [1, true, null]}}', "application/json", {"a": {"b": [1, True, None]}}, False),
        (b'{"a": 1}', "application/vnd.api+json; charset=utf-8", {"a": 1}, False),
        (b'[{"a": 1}]', "text/plain;charset=UTF-8", [{"a": 1}], False),
        (b'{"a": 1}', "", {"a": 1}, False),
        (b"3", "application/json", 3, False),
        (b'{"a": ', "application/json", '{"a": ', False),
        (
            b"a=1&b=%C3%BC&b=x+y&c=",
            "application/x-www-form-urlencoded",
            {"a": "1", "b": ["ü", "x y"], "c": ""},
            True,
        ),
        (b"a=1\r\nb=x=y\r\n", "text/plain", {"a": "1", "b": "x=y"}, True),
        (b"a=1&b=2", "text/plain;charset=UTF-8", "a=1&b=2", False),
        ("grüß".encode("latin-1"), "text/plain; charset=iso-8859-1", "grüß", False),
        (b"\xff\x00\xfe", "application/octet-stream", "data:application/octet-stream;base64,/wD+", False),
        (b"\xff\xfe", "", "data:application/octet-stream;base64,//4=", False),
        (b"text", "text/plain; charset=nonsense", "text", False),
    ],
)
def test_each_kind_is_parsed(raw: bytes, kind: str, value: Any, form: bool) -> None:
    assert read_body(sent(raw, kind=kind)) == Body(value, True, form)


def test_multipart_keeps_fields_and_describes_files() -> None:
    raw = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="qty"\r\n\r\n2\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="tag"\r\n\r\na\r\nb\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="tag"\r\n\r\nü\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="cv"; filename="my %22cv%22.pdf"\r\n'
        "Content-Type: application/pdf\r\n\r\n%PDF-1\r\n\r\nrest\r\n"
        f"--{BOUNDARY}--\r\n"
    ).encode()
    body = read_body(sent(raw, kind=f"multipart/form-data; boundary={BOUNDARY}"))
    file = {"filename": 'my "cv".pdf', "content_type": "application/pdf", "size": 14}
    assert body == Body({"qty": "2", "tag": ["a\r\nb", "ü"], "cv": file}, True, True)


def test_entries_are_joined_before_parsing() -> None:
    assert read_body(sent(b'{"a":', b' "x"}', kind="application/json")).value == {"a": "x"}


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress(b'{"a": 1}'), "gzip"),
        (gzip.compress(b'{"a": 1}'), ""),
        (zlib.compress(b'{"a": 1}'), "deflate"),
        (zlib.compress(b'{"a": 1}')[2:-4], "deflate"),
        (gzip.compress(zlib.compress(b'{"a": 1}')), "deflate, gzip"),
        (b'{"a": 1}', "identity"),
    ],
    ids=["gzip", "gzip unsaid", "zlib", "raw deflate", "both", "identity"],
)
def test_compressed_bodies_are_read(packed: bytes, encoding: str) -> None:
    assert read_body(sent(packed, kind="application/json", encoding=encoding)) == Body({"a": 1})


@pytest.mark.parametrize(
    "request_",
    [
        sent(b'{"a": 1}', kind="application/json", encoding="br"),
        sent(b"not gzip", kind="application/json", encoding="gzip"),
        sent(gzip.compress(b'{"a": 1}')[:-9], kind="application/json", encoding="gzip"),
        sent(b"part", None, b"part", kind="text/plain"),
        {"headers": {}, "hasPostData": True},
        {"headers": {}, "hasPostData": True, "postDataEntries": [{"bytes": "???"}]},
    ],
    ids=["brotli", "not gzip", "cut gzip", "file", "no entries", "not base64"],
)
def test_what_cannot_be_read_is_never_called_complete(request_: dict[str, Any]) -> None:
    assert not read_body(request_).complete


def test_no_body_is_complete() -> None:
    assert read_body({"headers": {}}) == Body()
    assert read_body({"headers": {}, "hasPostData": False}) == Body()


def test_post_data_as_text_is_enough() -> None:
    request_ = {"headers": {"content-type": "application/json"}, "postData": json.dumps({"é": 1})}
    assert read_body(request_) == Body({"é": 1})


def test_query_keeps_blanks_and_repeats() -> None:
    assert query_params("https://a.example/x?a=1&b=&a=2#c=3") == {"a": ["1", "2"], "b": ""}
    assert query_params("https://[bad/x?a=1") == {"a": "1"}


def test_a_stream_shows_no_body_at_all() -> None:
    assert read_body(sent(None)) == Body(complete=False)


@pytest.mark.parametrize(
    ("opcode", "payload", "value"),
    [
        (1, '{"a": 1}', {"a": 1}),
        (1, '42["say", {"a": 1}]', ["say", {"a": 1}]),
        (1, "3probe", "3probe"),
        (1, "hello", "hello"),
        (2, base64.b64encode(gzip.compress(b'{"a": 1}')).decode(), {"a": 1}),
        (2, base64.b64encode(b"\xff\x00").decode(), "data:application/octet-stream;base64,/wA="),
    ],
)
def test_a_frame_is_read_as_the_message_it_carries(opcode: int, payload: str, value: Any) -> None:
    assert read_frame(opcode, payload) == Body(value)
