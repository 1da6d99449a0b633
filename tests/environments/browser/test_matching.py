"""The eval schema against requests, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.environments.browser.gate.bodies import Body, query_params
from clawbench.environments.browser.gate.matching import Decision, concerns, decide
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
        ({"variables.id": 7}, {"variables": '{"id": 7}'}),
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
        ({"a": 1}, "a=1"),
        ({"a": 1}, None),
    ],
)
def test_filters_that_do_not_hold(filters: dict[str, Any], value: Any) -> None:
    assert not matches(filters, value)


def test_a_repeated_form_field_matches_by_any_of_its_values() -> None:
    assert matches({"tag": "b"}, {"tag": ["a", "b"]}, form=True)
    assert not matches({"tag": "c"}, {"tag": ["a", "b"]}, form=True)


@pytest.mark.parametrize(
    "body",
    [
        {"operationName": "PlaceOrder", "query": "mutation Other { x }"},
        {"query": "mutation PlaceOrder($id: ID!) { order(id: $id) { id } }"},
        {"operationName": None, "query": "# mutation Old\n mutation\n PlaceOrder { x }"},
        [{"query": "query Me { me }"}, {"query": "mutation PlaceOrder { x }"}],
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
        {"query": "mutation PlaceOrders { x }"},
        {"query": 5},
    ],
)
def test_other_graphql_operations_are_not(body: Any) -> None:
    assert not matches({"operationName": "PlaceOrder"}, body)


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
