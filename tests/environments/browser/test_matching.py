"""The eval schema against requests, case by case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clawbench.environments.browser.gate.bodies import Body, query_params, read_body, read_frame
from clawbench.environments.browser.gate.matching import Decision, concerns, decide, decide_frame
from clawbench.tasks import EvalSchema

URL = "https://shop.example/api/order?v=1"


def decision(
    schema: dict[str, Any], *, url: str = URL, method: str = "POST", body: Body | None = None
) -> Decision:
    typed = EvalSchema.model_validate({"url_pattern": r"/api/order", "method": "POST", **schema})
    return decide(typed, url, method, query_params(url), body or Body())


def matches(filters: dict[str, Any], value: Any, *, form: bool = False) -> bool:
    return decision({"body": filters}, body=Body(value, True, form)) is Decision.MATCH


def test_url_and_method_alone() -> None:
    assert decision({}) is Decision.MATCH
    assert decision({}, method="post") is Decision.MATCH
    assert decision({}, method="PUT") is Decision.PASS
    assert decision({}, url="https://shop.example/api/cart") is Decision.PASS
    assert decision({"url_pattern": r"^https://shop\.example/api/order(\?|$)"}) is Decision.MATCH


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        (r"^https://shop\.example/order$", "https://me:secret@shop.example/order"),
        (r"^https://shop\.example/order$", "https://shop.example./order"),
        (r"^https://shop\.example:8443/order$", "https://me@shop.example.:8443/order"),
        (r"/order\?kind=final", "https://shop.example/%6F%72der?%6bind=final"),
        (r"//münchen\.example/straße", "https://xn--mnchen-3ya.example/stra%C3%9Fe"),
        (r"^https://straße\.example/order$", "https://xn--strae-oqa.example/order"),
        (r"//faß\.bücher\.example/", "https://xn--fa-hia.xn--bcher-kva.example/"),
        (r"//βόλος\.example/", "https://xn--nxasmm1c.example/"),
        ("//नी\u200c\\.example/", "https://xn--l2b2c624h.example/"),
        (r"//xn--99999999\.bücher\.example/", "https://xn--99999999.xn--bcher-kva.example/"),
        (r"/stra%c3%9fe", "https://shop.example/stra%C3%9Fe"),
        (r"/stra%C3%9Fe", "https://shop.example/stra%c3%9fe"),
    ],
)
def test_an_address_may_be_spelled_in_other_ways(pattern: str, url: str) -> None:
    assert decision({"url_pattern": pattern}, url=url) is Decision.MATCH


@pytest.mark.parametrize(
    "url",
    [
        "https://log.example/?page=https%3A%2F%2Fshop.example%2Forder",
        "https://log.example/shop.example%2Forder",
        "https://shop.example@log.example/order",
        "https://log.example/shop.example./order",
    ],
)
def test_what_only_tells_of_an_address_is_not_it(url: str) -> None:
    assert decision({"url_pattern": r"shop\.example/order"}, url=url) is Decision.PASS


def test_the_placeholder_never_matches() -> None:
    schema = EvalSchema(url_pattern="__PLACEHOLDER_WILL_NOT_MATCH__", method="POST")
    assert not concerns(schema, "https://a.example/__PLACEHOLDER_WILL_NOT_MATCH__", "POST")


@pytest.mark.parametrize(
    ("filters", "value"),
    [
        ({"a": "x"}, {"a": "x", "b": "y"}),
        ({"a": 1}, {"a": "1"}),
        ({"a": "1"}, {"a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": "1.0"}, {"a": 1.0}),
        ({"a": True}, {"a": "true"}),
        ({"a": "false"}, {"a": False}),
        ({"a": None}, {"a": None}),
        ({"a.b": 1}, {"a.b": 1}),
        ({"a.b": 1}, {"a": {"b": 1}}),
        ({"a.b": 2}, {"a.b": 1, "a": {"b": 2}}),
        ({"a.b.c": 1}, {"a.b": {"c": 1}}),
        ({"items.0.qty": 2}, {"items": [{"qty": 2}]}),
        ({"a": {"b": 1}}, {"a": {"b": "1", "c": 2}}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1, "d": 1}}}),
        ({"a": [1, {"b": 2}]}, {"a": ["1", {"b": 2, "c": 3}]}),
        ({"a": 1}, [{"a": 2}, {"a": 1}]),
        ({"1.a": 1}, [{"a": 2}, {"a": 1}]),
        ({"variables.id": 7}, {"variables": '{"id": 7}'}),
        ({"a": 0.00001}, {"a": "0.00001"}),
        ({"a": "0.00001"}, {"a": 1e-5}),
        ({"a": 1e-7}, {"a": "1e-7"}),
        ({"a": 1.5e-7}, {"a": "0.00000015"}),
        ({"a": 1e16}, {"a": 10**16}),
        ({"a": "10000000000000000"}, {"a": 1e16}),
        ({"a": 123456789012345680000}, {"a": 1.2345678901234568e20}),
        ({"a": 10**21}, {"a": 1e21}),
        ({"a": 10**21}, {"a": "1e+21"}),
        ({"a": 10**23}, {"a": "1e+23"}),
        ({"a": 0}, {"a": -0.0}),
        ({}, None),
    ],
)
def test_filters_that_hold(filters: dict[str, Any], value: Any) -> None:
    assert matches(filters, value)


@pytest.mark.parametrize(
    ("filters", "value"),
    [
        ({"a": "x"}, {"a": "X"}),
        ({"a": "x"}, {"a": "xy"}),
        ({"a": "x"}, {"b": "x"}),
        ({"a": 1}, {"a": "01"}),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": [1, 2]}),
        ({"a": None}, {}),
        ({"a": None}, {"a": "null"}),
        ({"a": ""}, {"a": None}),
        ({"a": "{'b': 1}"}, {"a": {"b": 1}}),
        ({"a.b": 1}, {"a": {"b": 2}}),
        ({"items.1.qty": 2}, {"items": [{"qty": 2}]}),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 1}}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({"a": 1, "b": 2}, [{"a": 1}, {"b": 2}]),
        ({"0.a": 1}, [{"a": 2}, {"a": 1}]),
        ({"a": 1}, {"a": "1.0"}),
        ({"a": 2**53 + 1}, {"a": 2**53}),
        ({"a": 10**400}, {"a": 1e308}),
        ({"a": 1}, "text with a=1"),
        ({"query": "shoes"}, "shoes"),
        ({"a": 1}, None),
    ],
)
def test_filters_that_do_not_hold(filters: dict[str, Any], value: Any) -> None:
    assert not matches(filters, value)


def test_a_repeated_form_field_matches_by_any_of_its_values() -> None:
    assert matches({"tag": "b"}, {"tag": ["a", "b"]}, form=True)
    assert not matches({"tag": "c"}, {"tag": ["a", "b"]}, form=True)


def sent(text: str, content_type: str = "application/x-www-form-urlencoded") -> Body:
    return read_body({"headers": {"Content-Type": content_type}, "postData": text})


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ('p=x&p={"kind":"final"}', {"p.kind": "final"}),
        ('p=x&p={"kind":"final"}', {"p": {"kind": "final"}}),
        ("p=x&p=[1,2]", {"p": [1, 2]}),
        ("p=1&p=2", {"p": [1, 2]}),
        ("order[kind]=x&order[kind]=final", {"order": {"kind": "final"}}),
        ("order[kind]=x&order[kind]=final", {"order.kind": "final"}),
        ("query=query+Me{me}&query=mutation+PlaceOrder{x}", {"operationName": "PlaceOrder"}),
    ],
)
def test_a_repeated_form_field_hides_nothing(text: str, filters: dict[str, Any]) -> None:
    assert decision({"body": filters}, body=sent(text)) is Decision.MATCH
    assert decision({"params": filters}, url=f"{URL}&{text}") is Decision.MATCH
    assert decision({"body": {**filters, "more": 1}}, body=sent(text)) is Decision.PASS


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ('p={"kind":["x","final"]}', {"p": {"kind": "final"}}),
        ('p=x&p={"kind":["x","final"]}', {"p": {"kind": "final"}}),
        ('p=x&p=[{"kind":"final"}]', {"p.kind": "final"}),
        ('p={"kind":"final"}&p={"n":1}', {"p": {"kind": "final", "n": 1}}),
    ],
)
def test_a_list_in_the_json_of_a_field_is_one_value(text: str, filters: dict[str, Any]) -> None:
    assert decision({"body": filters}, body=sent(text)) is Decision.PASS


@pytest.mark.parametrize(
    "body",
    [
        {"operationName": "PlaceOrder", "query": "mutation Other { x }"},
        {"query": "mutation PlaceOrder($id: ID!) { order(id: $id) { id } }"},
        {"operationName": None, "query": "# mutation Old\n mutation\n PlaceOrder { x }"},
        [{"query": "query Me { me }"}, {"query": "mutation PlaceOrder { x }"}],
        {"query": "#\rmutation PlaceOrder{x}"},
        {"query": "mutation,PlaceOrder{x}"},
        {"query": "\ufeffmutation\ufeff PlaceOrder{x}"},
        {"query": 'query Me { say(text: "\\"") } mutation PlaceOrder { x }'},
        {"query": '"""a \\""" b""" mutation PlaceOrder { x }'},
        {"query": "query Me($in: In = {a: [1]}) @x(y: {b: 1}) { me } mutation PlaceOrder { x }"},
        {"query": "} mutation PlaceOrder { x }"},
        "mutation PlaceOrder { x }",
    ],
)
def test_graphql_operations_are_found(body: Any) -> None:
    assert matches({"operationName": "PlaceOrder"}, body)


@pytest.mark.parametrize(
    "body",
    [
        {"operationName": "Other", "query": "mutation PlaceOrder { x }"},
        {"query": "mutation Other { x }"},
        {"query": "# mutation PlaceOrder\nmutation Other { x }"},
        {"query": 'mutation Other { say(text: "mutation PlaceOrder") }'},
        {"query": 'mutation Other { say(text: "\\"mutation PlaceOrder") }'},
        {"query": '"""a \\""" mutation PlaceOrder { x } """ mutation Other { x }'},
        {"query": "mutation PlaceOrders { x }"},
        {"query": "{ search { mutation PlaceOrder } }"},
        {"query": "query Me { subscription PlaceOrder }"},
        {"query": "query Me($kind: mutation PlaceOrder: Int) { x }"},
        {"query": 'query Me { say(text: "}") mutation PlaceOrder }'},
        {"query": "query Me { # }\n mutation PlaceOrder }"},
        {"query": 5},
        "# mutation PlaceOrder\nmutation Other { x }",
    ],
)
def test_other_graphql_operations_are_not(body: Any) -> None:
    assert not matches({"operationName": "PlaceOrder"}, body)


@pytest.mark.parametrize("open_end", ['"', '"""', '"""\\"""'])
def test_a_string_without_an_end_is_read_once(open_end: str) -> None:
    """Once from each of its quotes it took hours."""
    query = "mutation PlaceOrder { x } " + open_end + '\\"' * 1_000_000
    assert matches({"operationName": "PlaceOrder"}, {"query": query})
    assert not matches({"operationName": "Other"}, {"query": query})


def test_params() -> None:
    assert decision({"params": {"v": 1}}) is Decision.MATCH
    assert decision({"params": {"v": 2}}) is Decision.PASS
    assert decision({"params": {"v": 1}}, url=URL + "&v=2") is Decision.MATCH
    assert decision({"params": {"q": ""}}, url=URL + "&q=") is Decision.MATCH
    graphql = "https://shop.example/api/order?query=query+Find+%7Bx%7D&variables=%7B%22id%22%3A7%7D"
    wanted = {"operationName": "Find", "variables.id": 7}
    assert decision({"params": wanted, "method": "GET"}, url=graphql, method="GET") is Decision.MATCH


def test_an_unreadable_body_is_undecidable_only_where_it_would_decide() -> None:
    unreadable = Body(complete=False)
    assert decision({"body": {"a": 1}}, body=unreadable) is Decision.UNDECIDABLE
    assert decision({}, body=unreadable) is Decision.MATCH
    assert decision({"body": {"a": 1}}, body=Body({"a": "1"}, False, True)) is Decision.MATCH
    assert decision({"body": {"a": 1}, "params": {"v": 2}}, body=unreadable) is Decision.PASS
    assert decision({"body": {"a": 1}}, body=unreadable, method="PUT") is Decision.PASS


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("application/x-www-form-urlencoded", '{"kind": "final"}'),
        ("multipart/form-data; boundary=x", '{"kind": "final"}'),
        ("image/png", ' [{"kind": "final"}]'),
        ("text/plain;charset=UTF-8", "other=1&kind=final"),
        ("application/json", "kind=final"),
        ("text/plain", '--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\nfinal\r\n--x--\r\n'),
    ],
)
def test_a_body_under_a_false_name_matches_all_the_same(content_type: str, text: str) -> None:
    body = read_body({"headers": {"Content-Type": content_type}, "postData": text})
    assert decision({"body": {"kind": "final"}}, body=body) is Decision.MATCH
    assert decision({"body": {"kind": "draft"}}, body=body) is Decision.PASS


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded"]
)
@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"final","x":NaN}',
        '{"x":"a\tb\nc","kind":"final"}',
        '{"kind":"draft"}\n{"kind":"final","x":-Infinity}',
        " " * 70 + '{"kind":"final"}',
    ],
)
def test_json_that_only_some_servers_take_matches(text: str, content_type: str) -> None:
    assert decision({"body": {"kind": "final"}}, body=sent(text, content_type)) is Decision.MATCH
    assert decision({"body": {"kind": "other"}}, body=sent(text, content_type)) is Decision.PASS
    field = read_body({"headers": {}, "postData": json.dumps({"data": text})})
    if "\n{" not in text:
        assert decision({"body": {"data.kind": "final"}}, body=field) is Decision.MATCH


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("application/json", '{"kind":"final",}'),
        ("application/vnd.api+json; charset=utf-8", "{'kind':'final'}"),
        ("application/json", ")]}'\n{}"),
        ("multipart/form-data; boundary=b", "no parts"),
        ("multipart/form-data; boundary=b", "--c\r\n\r\nno part"),
        ("multipart/form-data; boundary=b", "--c\r\nA: half a part"),
        ("multipart/form-data", "no boundary"),
    ],
)
def test_what_is_not_what_its_type_says_is_undecidable(content_type: str, text: str) -> None:
    body = sent(text, content_type)
    assert decision({"body": {"kind": "final"}}, body=body) is Decision.UNDECIDABLE
    assert decision({}, body=body) is Decision.MATCH
    assert decision({"body": {"kind": "final"}}, body=body, method="PUT") is Decision.PASS
    assert body.complete, "all of it is in the record"


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/plain", "[draft] hello"),
        ("text/plain;charset=UTF-8", "{draft} hello"),
        ("text/plain", "{=1\r\n"),
        ("", "[draft] hello"),
        ("application/json", ""),
        ("application/json", "\n"),
        ("application/json", "a=1&b=2"),
        ("application/x-www-form-urlencoded", "{a=1"),
        ("multipart/form-data; boundary=b", ""),
        ("multipart/form-data; boundary=b", "--b--\r\n"),
        ("application/octet-stream", "\0\0="),
    ],
)
def test_what_could_be_anything_is_decided(content_type: str, text: str) -> None:
    assert decision({"body": {"kind": "final"}}, body=sent(text, content_type)) is Decision.PASS


@pytest.mark.parametrize("text", ["order[kind]=final&x=1", "order%5Bkind%5D=final"])
def test_a_path_names_what_brackets_name_in_a_form(text: str) -> None:
    body = read_body({"headers": {"Content-Type": "application/x-www-form-urlencoded"}, "postData": text})
    assert decision({"body": {"order.kind": "final"}}, body=body) is Decision.MATCH
    assert decision({"body": {"order": {"kind": "final"}}}, body=body) is Decision.MATCH
    assert decision({"body": {"order[kind]": "final"}}, body=body) is Decision.MATCH
    assert decision({"body": {"order.kind": "draft"}}, body=body) is Decision.PASS
    assert decision({"params": {"order.kind": "final"}}, url=f"{URL}&{text}") is Decision.MATCH


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("tags[]=a", {"tags": ["a"]}),
        ("items[0]=a", {"items": ["a"]}),
        ("items[0][qty]=2", {"items": [{"qty": 2}]}),
        ("items[0][qty]=2", {"items.0.qty": 2}),
        ("items[0][qty]=2", {"items": {"0": {"qty": 2}}}),
        ("amount=0.00001", {"amount": 0.00001}),
    ],
)
def test_forms_are_read_as_servers_read_them(text: str, filters: dict[str, Any]) -> None:
    assert decision({"body": filters}, body=sent(text)) is Decision.MATCH
    assert decision({"params": filters}, url=f"{URL}&{text}") is Decision.MATCH
    assert decision({"body": {**filters, "more": 1}}, body=sent(text)) is Decision.PASS


@pytest.mark.parametrize("levels", [151, 500, 5000])
def test_json_nested_too_deep_is_undecidable(levels: int) -> None:
    text = '{"other":1,"doc":' + "[" * levels + "]" * levels + "}"
    assert decision({"body": {"kind": "final"}}, body=sent(text, "application/json")) is Decision.UNDECIDABLE
    assert frame_decision({"body": {"kind": "final"}}, text) is Decision.UNDECIDABLE


def frame_decision(schema: dict[str, Any], payload: str, *, opcode: int = 1) -> Decision:
    fields = {"url_pattern": r"/socket", "method": "POST", "transport": "websocket", **schema}
    url = "wss://shop.example/socket?room=7"
    body = read_frame(opcode, payload)
    return decide_frame(EvalSchema.model_validate(fields), url, query_params(url), body)


@pytest.mark.parametrize(
    "payload",
    [
        '{"kind": "final"}',
        '42["order", {"kind": "final"}]',
        '42/shop,17["order", {"kind": "final"}]',
        '[null, "5", "room:7", "order", {"kind": "final"}]',
    ],
)
def test_frames_match_by_the_json_they_carry(payload: str) -> None:
    assert frame_decision({"body": {"kind": "final"}}, payload) is Decision.MATCH
    assert frame_decision({"body": {"kind": "draft"}}, payload) is Decision.PASS


def test_frames_match_only_where_the_schema_names_them() -> None:
    final = '{"kind": "final"}'
    assert frame_decision({}, "anything") is Decision.MATCH
    assert frame_decision({"params": {"room": 7}}, final) is Decision.MATCH
    assert frame_decision({"params": {"room": 8}}, final) is Decision.PASS
    assert frame_decision({"url_pattern": "/other"}, final) is Decision.PASS
    assert frame_decision({"transport": "http"}, final) is Decision.PASS
    assert frame_decision({"body": {"kind": "final"}}, "eyJraW5kIjogImZpbmFsIn0=", opcode=2) is Decision.MATCH
    schema = EvalSchema.model_validate({"url_pattern": ".", "method": "POST", "transport": "websocket"})
    assert not concerns(schema, URL, "POST")
