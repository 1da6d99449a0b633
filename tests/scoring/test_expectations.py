from __future__ import annotations

from typing import Any

import pytest

from clawbench.results import (
    Cause,
    Intercepted,
    InterceptedRequest,
    NotIntercepted,
    Score,
    StopReason,
    Verdict,
)
from clawbench.scoring.expectations import as_number, check_expectations
from clawbench.scoring.web import score_web
from clawbench.tasks import Expectation, WebTask
from clawbench.tasks.paths import parse_path

REQUEST = InterceptedRequest(
    url="https://shop.example/api/orders?ref=a&tag=x",
    method="POST",
    params={"ref": "a", "tag": ["x", "y"], "page": "2"},
    headers={"Content-Type": "application/json", "X-Requested-With": "fetch"},
    timestamp=1.0,
    body={
        "items": [{"sku": "A", "qty": 2, "opts": ["m", "red"]}, {"sku": "B", "qty": 1, "opts": []}],
        "gift": False,
        "note": None,
        "form": {"qty": "2", "agree": "true", "total": "$1,250.50"},
        "a.b": {"c": 1},
        "price": 19.900000000001,
        "name": "Alex Green",
        "long": 10**400,
    },
)


def check(path: str, op: str = "equals", value: Any = None) -> tuple[bool, str]:
    expectation = Expectation.model_validate({"path": path, "op": op, "value": value})
    (result,) = check_expectations([expectation], REQUEST)
    assert result.name == f"{path} {op}"
    return result.ok, result.detail


HOLDS: list[tuple[str, str, Any]] = [
    ("url", "regex", r"/api/orders\b"),
    ("method", "equals", "POST"),
    ("params.ref", "equals", "a"),
    ("params.page", "equals", 2),
    ("params.tag", "set", ["y", "x"]),
    ("headers.content-type", "equals", "application/json"),
    ("headers.CONTENT-TYPE", "regex", "json"),
    ('headers["x-requested-with"]', "exists", None),
    ("body.items[0].qty", "equals", 2),
    ("body.items[0].qty", "equals", "2"),
    ("body.items[-1].sku", "equals", "B"),
    ("body.items.1.sku", "equals", "B"),
    ("body.items[0].opts[1]", "one_of", ["blue", "red"]),
    ("body.gift", "equals", False),
    ("body.gift", "equals", "false"),
    ("body.form.agree", "equals", True),
    ("body.form.qty", "equals", 2),
    ("body.form.qty", "number", 2),
    ("body.form.total", "number", 1250.5),
    ('body["a.b"].c', "equals", 1),
    ("body['a.b'].c", "number", 1.0),
    ("body.note", "equals", None),
    ("body.note", "exists", None),
    ("body.missing", "absent", None),
    ("body.items[2]", "absent", None),
    ("body.name.first", "absent", None),
    (
        "body.items",
        "set",
        [{"sku": "B", "qty": "1", "opts": []}, {"qty": 2, "sku": "A", "opts": ["m", "red"]}],
    ),
    ("body.items[0]", "regex", '"sku": "A"'),
]


@pytest.mark.parametrize(("path", "op", "value"), HOLDS)
def test_what_holds(path: str, op: str, value: Any) -> None:
    assert check(path, op, value) == (True, "")


FAILS: list[tuple[str, str, Any, str]] = [
    ("body.items[0].qty", "equals", 3, "expected 3, found 2"),
    ("body.items[0].qty", "equals", True, "expected true, found 2"),
    ("body.form.qty", "equals", "2.0", 'expected "2.0", found "2"'),
    ("body.name", "equals", "alex green", 'expected "alex green", found "Alex Green"'),
    ("body.missing", "equals", None, "expected null, found nothing"),
    ("body.note", "equals", "", 'expected "", found null'),
    ("body.note", "absent", None, "expected nothing, found null"),
    ("body.note", "regex", "", 'expected a match of "", found null'),
    ("body.missing", "exists", None, "expected something, found nothing"),
    ("body.name", "one_of", ["A", "B"], 'expected one of ["A", "B"], found "Alex Green"'),
    ("body.name", "number", 1, 'expected the number 1, found "Alex Green"'),
    ("body.gift", "number", 0, "expected the number 0, found false"),
    ("body.price", "number", 19.91, "expected the number 19.91"),
    ("body.items[0].opts", "set", ["m"], 'expected the elements ["m"] in any order, found ["m", "red"]'),
    ("body.items[0].opts", "set", ["m", "m"], "in any order"),
    ("body.name", "set", ["Alex Green"], "in any order"),
    ("body.long", "number", 1, "expected the number 1, found 1000"),
    (f"body.items.{'9' * 5000}", "equals", 1, "expected 1, found nothing"),
    ("body.items[0]", "equals", {"sku": "A", "qty": 2}, 'found {"sku": "A"'),
    ("body.items[0].opts", "equals", ["red", "m"], 'found ["m", "red"]'),
]


@pytest.mark.parametrize(("path", "op", "value", "detail"), FAILS)
def test_what_does_not_hold_is_told_with_what_was_found(path: str, op: str, value: Any, detail: str) -> None:
    ok, told = check(path, op, value)
    assert not ok
    assert detail in told


def test_a_literal_key_wins_over_a_dotted_path() -> None:
    request = REQUEST.model_copy(update={"body": {"a.b": 1, "a": {"b": 2}}})
    expectation = Expectation(path="body.a.b", value=1)
    assert check_expectations([expectation], request)[0].ok


def test_a_whole_body_may_be_meant() -> None:
    request = REQUEST.model_copy(update={"body": "raw text"})
    assert check_expectations([Expectation(path="body", value="raw text")], request)[0].ok
    listed = REQUEST.model_copy(update={"body": [{"x": 1}]})
    assert check_expectations([Expectation(path="body[0].x", value=1)], listed)[0].ok


def test_paths_are_read_exactly() -> None:
    assert parse_path('body.items[0]["a.b"][\'c"d\'].e') == ["body", "items", 0, "a.b", 'c"d', "e"]
    with pytest.raises(ValueError, match="cannot be read"):
        parse_path("body[")


def test_long_findings_are_cut() -> None:
    request = REQUEST.model_copy(update={"body": "x" * 5000})
    detail = check_expectations([Expectation(path="body", value="y")], request)[0].detail
    assert len(detail) < 300


@pytest.mark.parametrize(
    ("value", "number"),
    [("1,250", 1250), (" € 3.50", 3.5), (".5", 0.5), ("-2", -2), ("1,25", None), ("2 kg", None), ("", None)],
)
def test_numbers_in_texts(value: str, number: float | None) -> None:
    assert as_number(value) == number


def task(**more: Any) -> WebTask:
    schema = {"url_pattern": "/api/orders", "method": "POST", **more.pop("schema", {})}
    return WebTask.model_validate({"instruction": "Buy.", "eval_schema": schema, "time_limit": 5, **more})


def not_intercepted(reason: StopReason, **more: Any) -> Score:
    nothing = NotIntercepted(stop_reason=reason, stop_description="")
    hint = more.pop("cause_hint", None)
    return score_web(task(**more), nothing, reason, hint)


def test_a_pass_needs_the_interception_and_every_expectation() -> None:
    expect = [{"path": "body.name", "value": "Alex Green"}, {"path": "body.gift", "value": False}]
    score = score_web(task(expect=expect), Intercepted(request=REQUEST), StopReason.INTERCEPTED)
    assert (score.verdict, score.cause) == (Verdict.PASS, Cause.NONE)
    assert [c.name for c in score.checks] == ["intercepted", "body.name equals", "body.gift equals"]
    wrong = [*expect, {"path": "body.items[0].qty", "value": 5}]
    score = score_web(task(expect=wrong), Intercepted(request=REQUEST), StopReason.INTERCEPTED)
    assert (score.verdict, score.cause) == (Verdict.FAIL, Cause.AGENT)
    assert "body.items[0].qty equals: expected 5, found 2" in score.explanation


def test_without_expectations_an_interception_is_unjudged() -> None:
    score = score_web(task(), Intercepted(request=REQUEST), StopReason.INTERCEPTED)
    assert (score.verdict, score.cause) == (Verdict.UNJUDGED, Cause.NONE)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (StopReason.AGENT_EXITED, Cause.AGENT),
        (StopReason.TIME_LIMIT, Cause.AGENT),
        (StopReason.IDLE, Cause.AGENT),
        (StopReason.BUDGET, Cause.AGENT),
        (StopReason.MODEL_UNREACHABLE, Cause.MODEL),
        (StopReason.BROWSER_CRASHED, Cause.INFRASTRUCTURE),
        (StopReason.ERROR, Cause.INFRASTRUCTURE),
    ],
)
def test_the_cause_of_a_failure_follows_the_stop_reason(reason: StopReason, cause: Cause) -> None:
    score = not_intercepted(reason)
    assert (score.verdict, score.cause) == (Verdict.FAIL, cause)
    assert reason.value in score.explanation


def test_evidence_from_outside_explains_a_missing_request_but_never_a_wrong_one() -> None:
    assert not_intercepted(StopReason.AGENT_EXITED, cause_hint=Cause.MODEL).cause is Cause.MODEL
    wrong = task(expect=[{"path": "body.name", "value": "Sam"}])
    score = score_web(wrong, Intercepted(request=REQUEST), StopReason.INTERCEPTED, Cause.MODEL)
    assert score.cause is Cause.AGENT


def test_a_placeholder_schema_is_the_task_s_fault() -> None:
    schema = {"url_pattern": "__PLACEHOLDER_WILL_NOT_MATCH__"}
    score = not_intercepted(StopReason.AGENT_EXITED, schema=schema)
    assert (score.verdict, score.cause) == (Verdict.UNJUDGED, Cause.TASK)
