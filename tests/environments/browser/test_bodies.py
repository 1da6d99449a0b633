"""Bodies as CDP reports them, read back into what the page sent."""

from __future__ import annotations

import base64
import gzip
import json
import random
import zlib
from typing import Any

import pytest

from clawbench.environments.browser.gate.bodies import (
    Body,
    query_params,
    query_readings,
    read_body,
    read_frame,
)
from clawbench.environments.browser.gate.forms import urlencoded
from clawbench.environments.browser.gate.packing import MOST_MEMBERS, unpack

BINARY = "application/octet-stream"
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
        (b"hi", "text/plain; charset=undefined", "hi", False),
        (b"-!", "text/plain; charset=punycode", "-!", False),
        (b"a\\8", "text/plain; charset=unicode_escape", "a\\8", False),
        (b"hi", "text/plain; charset=a\0b", "hi", False),
        (b"hi", "text/plain; a*=1; a*0=2", "hi", False),
        (b"hi", f"text/plain; a*{'7' * 5000}=x", "hi", False),
        (b"gr\xfc", 'text/plain; x="; charset=utf-8"; Charset="iso-8859-\\1', "gr\u00fc", False),
        ('{"a": "ü"}'.encode("latin-1"), "application/json; charset=iso-8859-1", {"a": "ü"}, False),
        ('{"a": "ü"}'.encode("latin-1"), "application/json", {"a": "ü"}, False),
        ('{"a": "ü"}'.encode("utf-16"), "", {"a": "ü"}, False),
        (b'\xef\xbb\xbf{"a": 1}', "", {"a": 1}, False),
        (b'{"a": ' + b"7" * 9000 + b"}", "", {"a": "7" * 9000}, False),
        (b'{"a": 1e999, "b": 1e9}', "", {"a": "1e999", "b": 1e9}, False),
        (b'{"a": NaN}', "application/json", '{"a": NaN}', False),
        (b"{=1\r\n", "text/plain", {"{": "1"}, True),
        (b"a=M%FCller", "application/x-www-form-urlencoded", {"a": "Müller"}, True),
        (b"a=%00%FF", "application/x-www-form-urlencoded", {"a": f"data:{BINARY};base64,AP8="}, True),
    ],
)
def test_each_kind_is_parsed(raw: bytes, kind: str, value: Any, form: bool) -> None:
    assert read_body(sent(raw, kind=kind)) == Body(value, True, form)


TYPES = ["text/plain", "application/json", "multipart/form-data", "application/x-www-form-urlencoded", "x"]
NAMES = ["charset", "boundary", "a*", "a*0", "boundary*0*", "charset*", "", '"', "\ud800"]
VALUES = [
    "utf-8",
    "b",
    '"b"',
    "utf-16",
    "idna",
    "punycode",
    "base64",
    "rot13",
    "utf-7",
    "\0",
    "\ud800",
    "=",
    '"\\',
]
PIECES = [
    b"--b",
    b"\r\n",
    b"\n",
    b"{",
    b"}",
    b'"a":',
    b"[",
    b"1e9",
    b"NaN",
    b"=",
    b"&",
    b"%",
    b"\xff",
    b"\x00",
]
PIECES += [
    b"Content-Disposition: form-data; name=",
    b"Content-Transfer-Encoding: base64",
    b"\x1f\x8b\x08",
    b"\x78\x9c",
]


def test_nothing_that_a_page_sends_makes_reading_it_fail() -> None:
    dice = random.Random(1)
    for _ in range(5000):
        parameters = [f"{dice.choice(NAMES)}={dice.choice(VALUES)}" for _ in range(dice.randint(0, 3))]
        kind = dice.choice((";", "; ")).join([dice.choice(TYPES), *parameters])
        raw = b"".join(dice.choices(PIECES, k=dice.randint(0, 12)))
        body = read_body(sent(raw, kind=kind, encoding=dice.choice(("", "", "gzip", "deflate", "br"))))
        list(body.other_readings())
        json.dumps(body.value)


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


FIELD = b'Content-Disposition: form-data; name="kind"'


@pytest.mark.parametrize(
    ("raw", "boundary"),
    [
        (b"--b\r\ncontent-disposition: FORM-DATA; Name=kind\r\n\r\nfinal\r\n--b--", "b"),
        (b"--b\n" + FIELD + b"\n\nfinal\n--b--\n", "b"),
        (b"said before\r\n--b c\r\n" + FIELD + b"\r\n\r\nfinal\r\n--b c--\r\n", '"b c"'),
        (
            b'--b\r\nContent-Disposition: form-data; name="x\\"\r\n\r\n1\r\n--b\r\n'
            + FIELD
            + b"\r\n\r\nfinal\r\n--b--",
            "b",
        ),
        (b'--b\r\nContent-Disposition: form-data;\r\n\tname="kind"\r\n\r\nfinal\r\n--b--', "b"),
        (b"--b\r\n" + FIELD + b"\r\n\r\nfinal\r\n--b--", "x; boundary=b"),
        (b"--b\r\n" + FIELD + b"\r\n\r\nfinal\r\n--b--", "x"),
        (b"said before\n--b \r\n" + FIELD + b"\r\n\r\nfinal\r\n--b--", "x"),
        (b"pre\n--b\r\n" + FIELD + b"\r\n\r\nfinal\r\n--b--", "b"),
        (b"pre\r\n--b\n" + FIELD + b"\n\nfinal\n--b--", "b"),
    ],
    ids=[
        *("other letters", "bare line ends", "quoted boundary", "name that ends with a backslash"),
        *("folded", "two boundaries", "another boundary", "another after a line", "bare line end before"),
        "bare line ends after",
    ],
)
def test_multipart_is_read_as_servers_read_it(raw: bytes, boundary: str) -> None:
    assert read_body(sent(raw, kind=f"Multipart/Form-Data; Boundary={boundary}")).value["kind"] == "final"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("quoted-printable", b"=66inal"), ("BASE64", b"ZmluYWw=\r\n")],
)
def test_parts_may_be_encoded_as_in_mail(encoding: str, written: bytes) -> None:
    header = b"\r\nContent-Transfer-Encoding: " + encoding.encode()
    raw = b"--b\r\n" + FIELD + header + b"\r\n\r\n" + written + b"\r\n--b--"
    kind = "multipart/form-data; boundary=b"
    assert read_body(sent(raw, kind=kind)).value == {"kind": written.decode()}
    assert {"kind": "final"} in readings(raw, kind=kind)


def test_what_has_no_part_is_shown_as_it_is() -> None:
    assert (
        read_body(sent(b"--c\r\nno part", kind="multipart/form-data; boundary=b")).value == "--c\r\nno part"
    )
    assert read_body(sent(b"--b--\r\n", kind="multipart/form-data; boundary=b")) == Body({}, True, True)


def test_letters_beyond_ascii_in_names_of_fields_and_files() -> None:
    names = "Åäö…✓"
    raw = (
        f'--b\r\nContent-Disposition: form-data; name="{names}"; filename="{names}"\r\n\r\n\r\n--b--'.encode()
    )
    shown = read_body(sent(raw, kind="multipart/form-data; boundary=b")).value
    assert shown == {names: {"filename": names, "content_type": "", "size": 0}}


def test_a_value_of_a_plain_form_may_have_several_lines() -> None:
    raw = b"kind=final\r\nnote=one\r\ntwo\r\n\r\nthree\r\nn=1\r\n"
    shown = {"kind": "final", "note": "one\r\ntwo\r\n\r\nthree", "n": "1"}
    assert read_body(sent(raw, kind="text/plain")).value == shown
    assert read_body(sent(raw, kind="text/plain;charset=UTF-8")).value == raw.decode()
    assert read_body(sent(b"no form\r\na=1\r\n", kind="text/plain")).value == "no form\r\na=1\r\n"


def readings(*parts: bytes, kind: str = "") -> list[Any]:
    return [reading.value for reading in read_body(sent(*parts, kind=kind)).other_readings()]


@pytest.mark.parametrize("charset", ["shift_jis", "euc_jp", "gb18030", "big5"])
def test_a_form_is_read_in_every_charset_that_fits(charset: str) -> None:
    raw = "確定".encode(charset)
    assert {"a": "確定"} in readings(b"a=" + raw, kind="application/x-www-form-urlencoded")
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + raw + b"\r\n--b--"
    assert {"a": "確定"} in readings(part, kind="multipart/form-data; boundary=b")
    escaped = "".join(f"%{byte:02X}" for byte in raw)
    assert {"a": "確定"} in list(query_readings(f"https://a.example/?a={escaped}"))


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("order[total]=5", {"order": {"total": "5"}}),
        (
            "order[items][0][qty]=2&order[items][1][qty]=3",
            {"order": {"items": {"0": {"qty": "2"}, "1": {"qty": "3"}}}},
        ),
        ("tags[]=a&tags[]=b", {"tags": ["a", "b"]}),
        ("items[][qty]=2", {"items": {"0": {"qty": "2"}}}),
        ("a=1&a[b]=2", {"a": "1"}),
        ("[a]=1&b]=2&c[=3", {"[a]": "1", "b]": "2", "c[": "3"}),
    ],
)
def test_names_with_brackets_are_nested_data(text: str, nested: dict[str, Any]) -> None:
    flat, *others = urlencoded(text.encode()).readings()
    assert others == ([nested] if nested != flat else [])


def test_of_members_with_one_name_each_may_count() -> None:
    body = read_body({"postData": '{"a": 1, "b": {"c": 1, "c": 2}, "a": 2}'})
    assert body.value == {"a": 2, "b": {"c": 2}}
    assert [reading.value for reading in body.other_readings()] == [{"a": 1, "b": {"c": 1}}]


def test_files_of_json_are_opened() -> None:
    disposition = b'--b\r\nContent-Disposition: form-data; name="order"; filename="blob"\r\n'
    raw = disposition + b'Content-Type: application/json\r\n\r\n{"kind": "final"}\r\n--b--'
    assert {"order": {"kind": "final"}} in readings(raw, kind="multipart/form-data; boundary=b")


def test_lines_of_json_and_json_in_a_string_are_data() -> None:
    assert [{"a": 1}, {"b": 2}] in readings(b'{"a": 1}\n{"b": 2}\n')
    assert {"a": 1} in readings(b'"{\\"a\\": 1}"', kind="application/json")


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b'{"a": "x", "b": NaN}', {"a": "x", "b": "NaN"}),
        (b'{"a": "x\ty\n"}', {"a": "x\ty\n"}),
        (b'{"a": "x", "b": "\xe2"}', {"a": "x", "b": "\ufffd"}),
        (b'{"a": "x"}\n{"a": NaN}', [{"a": "x"}, {"a": "NaN"}]),
    ],
)
def test_json_that_only_some_servers_take_is_data_and_recorded_as_sent(raw: bytes, data: Any) -> None:
    body = read_body(sent(raw, kind="application/json; charset=utf-8"))
    assert isinstance(body.value, str)
    assert body.complete
    assert data in [reading.value for reading in body.other_readings()]


def test_many_blanks_may_stand_before_json() -> None:
    assert read_body(sent(b" " * 70 + b'{"a": 1}', kind="text/plain")).value == {"a": 1}


def test_long_bodies_take_no_longer_than_they_are_long() -> None:
    """Copying the rest for each line, or for each member, took hours."""
    lines = read_body(sent(b"a=1\r\n" + b"x\r\n" * 3_000_000, kind="text/plain"))
    assert len(lines.value["a"]) == 1 + 3 * 3_000_000
    member = gzip.compress(b"")
    assert unpack(member * (MOST_MEMBERS - 1) + gzip.compress(b"x"), "gzip") == b"x"
    assert unpack(member * 1_000_000, "gzip") is None


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
        (gzip.compress(b'{"a"') + gzip.compress(b": 1}"), "gzip"),
        (gzip.compress(b'{"a"') + gzip.compress(b": 1}"), ""),
        (zlib.compress(b'{"a": 1}'), ""),
    ],
    ids=[
        *("gzip", "gzip unsaid", "zlib", "raw deflate", "both", "identity"),
        *("two of gzip", "two of gzip unsaid", "zlib unsaid"),
    ],
)
def test_compressed_bodies_are_read(packed: bytes, encoding: str) -> None:
    assert read_body(sent(packed, kind="application/json", encoding=encoding)) == Body({"a": 1})


@pytest.mark.parametrize(
    "request_",
    [
        sent(b'{"a": 1}', kind="application/json", encoding="br"),
        sent(b"not gzip", kind="application/json", encoding="gzip"),
        sent(gzip.compress(b'{"a": 1}')[:-9], kind="application/json", encoding="gzip"),
        sent(gzip.compress(b'{"a": 1}') + b"more", kind="application/json", encoding="gzip"),
        sent(b"[" * 200_000 + b"]" * 200_000, kind="application/json"),
        sent(b"part", None, b"part", kind="text/plain"),
        {"headers": {}, "hasPostData": True},
        {"headers": {}, "hasPostData": True, "postDataEntries": [{"bytes": "???"}]},
    ],
    ids=["brotli", "not gzip", "cut gzip", "more than gzip", "too deep", "file", "no entries", "not base64"],
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
    ids=["json", "socket.io", "engine.io", "text", "gzip", "binary"],
)
def test_a_frame_is_read_as_the_message_it_carries(opcode: int, payload: str, value: Any) -> None:
    assert read_frame(opcode, payload) == Body(value)
