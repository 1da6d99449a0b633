"""The order of lines where several processes report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from clawbench.environments.browser.recorder.action_log import ActionLog
from clawbench.environments.browser.recorder.actions import Timeline
from clawbench.environments.browser.recorder.order import AT_WORK_S, PATIENCE_S, Order, Pending
from clawbench.results import read_json_lines


def event(timestamp: int, held: bool = False) -> Pending:
    return Pending({}, timestamp, None, "", held)


def times(order: Order, now: float) -> list[int]:
    return [pending.timestamp for pending in order.ready(now)]


def test_one_process_alone_waits_for_nobody() -> None:
    order = Order()
    assert order.put(event(1), "page", 0.0) == 0.0
    assert times(order, 0.0) == [1]


def test_an_event_reported_late_by_another_process_comes_before_later_ones() -> None:
    order = Order()
    order.put(event(100), "page", 0.0)
    assert times(order, 0.0) == [100]
    assert order.put(event(107), "frame", 0.01) == PATIENCE_S
    order.put(event(105), "page", 0.02)
    order.put(event(105), "page", 0.02)
    assert times(order, 0.02) == []
    assert times(order, 0.02 + PATIENCE_S) == [105, 105, 107]


def test_a_process_that_fell_silent_is_not_waited_for() -> None:
    order = Order()
    order.put(event(1), "frame", 0.0)
    assert order.put(event(2), "page", AT_WORK_S) == 0.0


def test_a_held_event_holds_up_those_after_it() -> None:
    order, held = Order(), event(1, held=True)
    order.put(held, "page", 0.0)
    order.put(event(2), "page", 0.0)
    assert times(order, 9.0) == []
    held.held = False
    assert times(order, 9.0) == [1, 2]
    order.put(event(3, held=True), "page", 9.0)
    assert [pending.timestamp for pending in order.rest()] == [3]


def test_timestamps_are_the_events_own_where_believable_and_never_before_a_written_line() -> None:
    timeline = Timeline()
    assert timeline.place(1000.7, 1003.0) == 1000
    assert timeline.place(0.0, 9000.0) == 9000
    assert timeline.place(9999999.0, 9001.0) == 9001
    timeline.wrote(9001)
    assert timeline.place(8990.0, 9002.0) == 9001


@pytest.mark.anyio
async def test_what_one_page_tells_late_stays_in_its_order(tmp_path: Path) -> None:
    """Of two events that were told together one is too old to be believed, the other is not."""
    log = ActionLog(tmp_path / "actions.jsonl", show_secrets=False, on_line=lambda: None)
    now = time.time() * 1000
    log.put({"type": "click", "time": now}, None, str, source="frame")
    for kind, ago in (("keydown", 2100), ("input", 1600), ("keyup", 0)):
        log.put({"type": kind, "time": now - ago}, None, str, source="page")
    log.close()
    lines = list(read_json_lines(tmp_path / "actions.jsonl"))
    assert [line["type"] for line in lines if line["type"] != "click"] == ["keydown", "input", "keyup"]
    times = [line["timestamp"] for line in lines]
    assert times == sorted(times)
