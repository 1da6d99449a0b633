"""Times of a clock that is not ours."""

from __future__ import annotations

import json

import pytest

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.remote import parse_endpoint
from clawbench.environments.browser.remote.clock import clock_ahead, set_right
from clawbench.environments.browser.remote.reaching import reach
from tests.environments.browser.remote.elsewhere import Elsewhere


@pytest.mark.anyio
async def test_a_clock_is_read_to_within_a_frame(elsewhere: Elsewhere) -> None:
    cdp = CdpConnection(await reach(parse_endpoint(elsewhere.http, {})))
    page = (await cdp.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
    assert abs(await clock_ahead(cdp, page)) < 1 / 15
    cdp.close()


def test_times_that_get_into_the_record_are_set_right() -> None:
    sent = {"method": "Network.requestWillBeSent", "params": {"wallTime": 1000.5, "timestamp": 7}}
    set_right(sent, "report", 1.5)
    assert sent["params"] == {"wallTime": 999.0, "timestamp": 7}

    payload = json.dumps({"type": "click", "time": 5000, "x": 1})
    reported = {"method": "Runtime.bindingCalled", "params": {"name": "report", "payload": payload}}
    set_right(reported, "report", 1.5)
    assert json.loads(reported["params"]["payload"]) == {"type": "click", "time": 3500, "x": 1}

    of_a_page = {"method": "Runtime.bindingCalled", "params": {"name": "theirs", "payload": "no JSON"}}
    set_right(of_a_page, "report", 1.5)
    assert of_a_page["params"]["payload"] == "no JSON"
