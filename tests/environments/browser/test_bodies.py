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


def test_a_value_of_a_plain_form_may_have_several_lines() -> None:
    raw = b"kind=final\r\nnote=one\r\ntwo\r\n\r\nthree\r\nn=1\r\n"
    shown = {"kind": "final", "note": "one\r\ntwo\r\n\r\nthree", "n": "1"}
    assert read_body(sent(raw, kind="text/plain")).value == shown
    assert read_body(sent(raw, kind="text/plain;charset=UTF-8")).value == raw.decode()
    assert read_body(sent(b"no form\r\na=1\r\n", kind="text/plain")).value == "no form\r\na=1\r\n"


def readings(*parts: bytes, kind: str = "") -> list[Any]:
    return [reading.value for reading in read_body(sent(*parts, kind=kind)).other_readings()]


@pytest.mark.parametrize("charset", ["shift_jis", "euc_jp", "gb18030", "big5", "iso2022_jp"])
def test_a_form_is_read_in_every_charset_that_fits(charset: str) -> None:
    raw = "確定".encode(charset)
    assert {"a": "確定"} in readings(b"a=" + raw, kind="application/x-www-form-urlencoded")
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + raw + b"\r\n--b--"
    assert {"a": "確定"} in readings(part, kind="multipart/form-data; boundary=b")
    escaped = "".join(f"%{byte:02X}" for byte in raw)
    assert {"a": "確定"} in list(query_readings(f"https://a.example/?a={escaped}"))


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        *(("iso8859_5", "Да"), ("cp866", "Да"), ("mac_cyrillic", "Да"), ("mac_roman", "Größe")),
        *(("iso8859_6", "نعم"), ("iso8859_15", "10€"), ("iso8859_3", "ĝis"), ("iso8859_4", "ā")),
        *(("iso8859_10", "ā"), ("iso8859_14", "ŵ"), ("iso8859_16", "ș")),
        *(("gbk", "模"), ("euc_kr", "확"), ("cp1252", "Ã©")),
    ],
)
def test_what_happens_to_be_utf_8_may_be_in_another_charset(charset: str, text: str) -> None:
    raw = b"a=" + "".join(f"%{byte:02X}" for byte in text.encode(charset)).encode()
    assert {"a": text} in readings(raw, kind="application/x-www-form-urlencoded")


def test_utf_8_is_recorded_where_it_fits_and_ascii_is_read_once() -> None:
    assert read_body(sent(b"a=%C4%A3", kind="application/x-www-form-urlencoded")).value == {"a": "ģ"}
    assert readings(b"a=1&b=2", kind="application/x-www-form-urlencoded") == [{"a": "1", "b": "2"}]


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
    assert others[:1] == ([nested] if nested != flat else [])


@pytest.mark.parametrize(
    ("text", "nested"),
    [
        ("tags[]=a", {"tags": ["a"]}),
        ("tags[]=a&tags[]=b", {"tags": ["a", "b"]}),
        ("items[0]=a", {"items": ["a"]}),
        ("items[1]=b&items[0]=a&items[]=c", {"items": ["a", "b", "c"]}),
        ("items[0][qty]=2&items[10][qty]=4&items[2][qty]=3", {"items": [{"qty": q} for q in "234"]}),
        ("o[items][][qty]=2&o[items][][qty]=3", {"o": {"items": [{"qty": "2"}, {"qty": "3"}]}}),
        ("i[][a]=1&i[][b]=2&i[][a]=3", {"i": [{"a": "1"}, {"b": "2"}, {"a": "3"}]}),
        ("i[][a]=1&i[][b]=2&i[][a]=3", {"i": [{"a": "1", "b": "2"}, {"a": "3"}]}),
        ("i[0]=a&i[x]=b&k=1&k=2", {"i": {"0": "a", "x": "b"}, "k": ["1", "2"]}),
        ("a[b]=1&a[b]=2&a=3", {"a": {"b": ["1", "2"]}}),
        ("a[][]=1", {"a": [["1"]]}),
        ("a[" + "9" * 5000 + "]=1", {"a": {"9" * 5000: "1"}}),
    ],
)
def test_names_with_numbers_and_empty_brackets_are_lists(text: str, nested: dict[str, Any]) -> None:
    assert nested in list(urlencoded(text.encode()).readings())


def test_names_may_be_nested_without_an_end() -> None:
    name = "a" + "[b]" * 100_000
    readings_ = list(urlencoded(f"{name}=1&tags[]=x".encode()).readings())
    assert readings_[-1] == {name: "1", "tags": ["x"]}


def test_of_members_with_one_name_each_may_count() -> None:
    body = read_body({"postData": '{"a": 1, "b": {"c": 1, "c": 2}, "a": 2}'})
    assert body.value == {"a": 2, "b": {"c": 2}}
    assert [reading.value for reading in body.other_readings()] == [{"a": 1, "b": {"c": 1}}]


@pytest.mark.parametrize(
    ("start", "end"),
    [("[", "]"), ('{"a":', "}"), ('[{"[\\\\\\"]{":', "}]")],
    ids=["lists", "objects", "both"],
)
def test_json_is_read_150_levels_deep(start: str, end: str) -> None:
    """Readers of what is recorded stop at 200."""
    levels = 150 // len(end)
    text = start * levels + '"[{[\\"[["' + end * levels
    deepest = read_body(sent(text.encode(), kind="application/json"))
    assert (deepest.value, deepest.complete) == (json.loads(text), True)
    deeper = read_body(sent(f"[{text}]".encode(), kind="application/json"))
    assert (deeper.value, deeper.complete) == (f"[{text}]", False)
    assert read_frame(1, f"[{text}]") == Body(f"[{text}]", complete=False)


def test_a_member_that_another_replaced_counts_as_deep() -> None:
    text = '{"a":1,"b":' + "[" * 150 + "]" * 150 + ',"b":1}'
    assert not read_body(sent(text.encode())).complete


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
