import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.results import StopReason
from clawbench.runner.stages.ending import read_interception, true_stop
from clawbench.runner.stops import Stop

CRASHED = Stop(StopReason.BROWSER_CRASHED, "gone")


@pytest.mark.parametrize(
    ("seen", "intercepted", "of_session", "died", "truth"),
    [
        ("agent_exited", False, None, None, "agent_exited"),
        ("agent_exited", True, None, None, "intercepted"),
        ("error", True, None, "killed", "intercepted"),
        ("browser_crashed", True, CRASHED, None, "intercepted"),
        ("time_limit", True, None, None, "time_limit"),
        ("agent_exited", False, CRASHED, None, "browser_crashed"),
        ("idle", False, None, "killed", "error"),
        ("time_limit", False, None, "killed", "error"),
        ("intercepted", True, None, "killed", "intercepted"),
        ("cancelled", False, None, "killed", "cancelled"),
        ("browser_crashed", False, CRASHED, "killed", "browser_crashed"),
    ],
)
def test_what_ended_the_agents_time(
    seen: str, intercepted: bool, of_session: Stop | None, died: str | None, truth: str
) -> None:
    assert true_stop(Stop(StopReason(seen), "x"), intercepted, of_session, died).reason.value == truth


def test_a_final_request_is_read_back_however_deep_its_body_is(tmp_path: Path) -> None:
    body: list[Any] = []
    for _ in range(400):
        body = [body]
    request = {"url": "http://shop.example/", "method": "POST", "params": {}, "body": body, "headers": {}}
    file = tmp_path / "interception.json"
    file.write_text(json.dumps({"intercepted": True, "request": {**request, "timestamp": 1.0}}))
    assert read_interception(file).intercepted
