from __future__ import annotations

import pytest

from clawbench.gateway.outage import HARD_FAILURES, SOFT_FAILURES, Outage


def _fail(outage: Outage, status: int | None, times: int, body: bytes = b"") -> None:
    for _ in range(times):
        outage.note(status=status, unreachable=status is None, error="down", body=body)


@pytest.mark.parametrize("status", [None, 401, 402, 403, 404, 500, 503])
def test_five_hard_failures_in_a_row(status: int | None) -> None:
    outage = Outage()
    _fail(outage, status, HARD_FAILURES - 1)
    assert outage.verdict is None
    _fail(outage, status, 1)
    assert outage.verdict == "5 model calls in a row failed, the last with: down"


def test_a_good_answer_starts_again() -> None:
    outage = Outage()
    _fail(outage, 500, HARD_FAILURES - 1)
    outage.note(status=200, unreachable=False, error=None)
    assert outage.last_failure is None
    _fail(outage, 500, HARD_FAILURES - 1)
    assert outage.verdict is None


def test_bad_requests_show_that_the_model_is_there() -> None:
    outage = Outage()
    _fail(outage, 400, 50)
    assert outage.verdict is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"Your credit balance is too low to access the API"}}',
        b'{"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}',
    ],
)
def test_bad_requests_that_are_about_the_account(body: bytes) -> None:
    outage = Outage()
    _fail(outage, 400, HARD_FAILURES, body)
    assert outage.verdict is not None


@pytest.mark.parametrize("status", [429, 529])
def test_rate_limits_take_longer(status: int) -> None:
    outage = Outage()
    _fail(outage, status, SOFT_FAILURES - 1)
    assert outage.verdict is None
    _fail(outage, 429, 1)
    assert outage.verdict is not None


def test_a_cut_stream_is_a_failure_whatever_its_status() -> None:
    outage = Outage()
    for _ in range(HARD_FAILURES):
        outage.note(status=200, unreachable=True, error="cut")
    assert outage.verdict is not None


def test_no_credit_is_not_a_rate_limit() -> None:
    outage = Outage()
    _fail(outage, 429, HARD_FAILURES, b'{"error":{"message":"m","type":"insufficient_quota"}}')
    assert outage.verdict is not None
    for body in (b"", b"[]", b'{"error":null}', b'{"error":"x"}'):
        fresh = Outage()
        _fail(fresh, 429, HARD_FAILURES, body)
        assert fresh.verdict is None
