"""What counts as the same request."""

from __future__ import annotations

from typing import Any

import pytest

from clawbench.gateway.replay.normal import Normaliser

SAME = [
    ("run 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "run 9b2d5b96-1111-42d3-8a0c-ffffe82c3301"),
    ("at 2026-11-16T09:08:04.123Z", "at 2025-01-02T23:59:59+01:00"),
    ("Today is Monday, November 16, 2026.", "Today is Tuesday, December 1, 2026."),
    ("Mon Nov 16 09:08:04 UTC 2026", "Sun Jan  4 19:01:59 UTC 2026"),
    ("Date:   Mon Nov 16 09:08:04 2026 +0000", "Date:   Tue Nov 17 10:00:00 2026 +0100"),
    ("-rw-r--r-- 1 a a 12 Nov 16 09:08 x.py", "-rw-r--r-- 1 a a 12 Dec  1 10:00 x.py"),
    ("16 November 2026", "3rd March 2027"),
    ("It is 9:08 AM", "It is 11:30 pm"),
    ("created 1763284084 and 1763284084123", "created 1763999999 and 1763999999000"),
    (
        "see http://127.0.0.1:8787/v1 and localhost:9222",
        "see http://127.0.0.1:41234/v1 and localhost:5"[:-1] + "55",
    ),
    ("/tmp/tmpab12cd34/out.txt", "/tmp/tmpzz99yy88/out.txt"),
    ("/tmp/reproduce-1.py failed", "/tmp/reproduce-2.py failed"),
    ("in /var/tmp/x1/y", "in /var/tmp/x2/y"),
    ("made /home/agent/tmp/tmp.ug0mUgUfhH", "made /home/agent/tmp/tmp.sLWJ1UZBYN"),
    ("cd tmp.ug0mUgUfhH", "cd tmp.sLWJ1UZBYN"),
    ("/srv/t/clawbench-abcd1234/0123456789ab/home/x", "/tmp/u/v/clawbench-zzzz9999/ba9876543210/home/x"),
    ("[main 1a2b3c4] Fix", "[main 9f8e7d6] Fix"),
    ("Ran 25 tests in 0.012s", "Ran 25 tests in 1.3s"),
    ("real\t0m1.203s", "real\t0m0.998s"),
    ("<A object at 0x7f3a9c2e51d0>", "<A object at 0x7f0000000010>"),
    ("call_a1b2c3d4e5f6 toolu_01AbCdEfGh", "call_zzzzzzzz9999 toolu_99XyZzYyXx"),
    ("token cb-" + "a1B2" * 8, "token cb-" + "Z9y8" * 8),
    ("data:image/png;base64,iVBORw0KGgoAAA==", "data:image/png;base64,iVBORw0KGgoBBB=="),
    ("A" * 300, "B" * 400),
    ("alex.green.1a2b3c4d@mail.example", "alex.green.9f8e7d6c@mail.example"),
    ("visible: 326–1320 of 1324 px", "visible: 0–994 of 1324 px"),
    ("pid 4242 ended", "pid 7 ended"),
]
DIFFERENT = [
    ("Order two tins", "Order three tins"),
    ("port 8080 of the shop", "port 8081 of the shop"),
    ("http://shop.example:8080/", "http://shop.example:9090/"),
    ("/workspace/a.py", "/workspace/b.py"),
    ("data:image/png;base64,AAAA", "data:image/jpeg;base64,AAAA"),
    ("item 12", "item 13"),
    ("timeout of 300 seconds", "timeout of 600 seconds"),
    ("run_integration_tests", "run_acceptance_tests"),
    ("decade", "facade"),
    ("[12] button", "[13] button"),
    ("$66.46", "$70.14"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_belongs_to_one_run_only_does_not_count(one: str, other: str) -> None:
    assert Normaliser().text(one) == Normaliser().text(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_is_said_counts(one: str, other: str) -> None:
    assert Normaliser().text(one) != Normaliser().text(other)


def test_ids_and_moments_in_fields() -> None:
    def request(number: int, text: str = "x") -> dict[str, Any]:
        return {
            "model": f"m{number}",
            "user": f"u{number}",
            "metadata": {"user_id": f"s{number}"},
            "messages": [
                {"role": "assistant", "tool_calls": [{"id": f"odd{number}", "function": {"name": "f"}}]},
                {
                    "role": "tool",
                    "tool_call_id": f"odd{number}",
                    "content": text,
                    "at": 1763284084.5 + number,
                },
            ],
            "tools": [{"properties": {"id": {"type": "string"}}}],
        }

    normal = Normaliser().request
    assert normal(request(1)) == normal(request(2))
    assert normal(request(1)) != normal(request(1, "y"))
    assert normal(request(1))["tools"] == request(1)["tools"]


def test_names_of_the_two_runs() -> None:
    normaliser = Normaliser(("beefa6aea65c", "run-two"))
    assert (
        normaliser.text("in run-two") == normaliser.text("in beefa6aea65c") != normaliser.text("in run-one")
    )
