"""The bundled web task with its policies: sandboxed agent, scripted model behind the gateway, real browser.

No interceptor stands in between here, so the order arrives at the site and can be judged there.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from clawbench.gateway import Gateway
from clawbench.harnesses import CDP, GATEWAY, AgentResult, get_harness
from clawbench.identity import new_person, write_my_info
from clawbench.models import scripted_model
from clawbench.results import (
    Cause,
    FinishReason,
    Intercepted,
    InterceptedRequest,
    RunDirectory,
    Score,
    StopReason,
    Verdict,
)
from clawbench.sandbox import Mount
from clawbench.scoring.web import score_web
from clawbench.sites import serve_site
from clawbench.tasks import WebTask, find_task

from .conftest import end_chromium, start_chromium
from .stage import run_context, tcp_as_unix, unix_as_tcp

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def task() -> WebTask:
    task = find_task("demo/002-shopping-order-teahouse")
    assert isinstance(task, WebTask)
    return task


async def order(task: WebTask, policy: str, tmp_path: Path, site: Path) -> AgentResult:
    """Let the policy do the task; what the agent claims to have used must be what was measured."""
    async with unix_as_tcp(site) as shop_port:
        process, port = start_chromium(tmp_path / "profile", f"MAP teahouse.example 127.0.0.1:{shop_port}")
        try:
            return await _order(task, policy, tmp_path, port)
        finally:
            end_chromium(process)


async def _order(task: WebTask, policy: str, tmp_path: Path, cdp_port: int) -> AgentResult:
    run = RunDirectory.create(tmp_path, batch="b", suite="demo", task="t", harness="reference", model=policy)
    info = Mount(tmp_path / "my-info", "/my-info")
    write_my_info(new_person(), info.source)
    model = scripted_model(policy, task.directory / "policies" / f"{policy}.yaml")
    harness = get_harness("reference")
    async with (
        Gateway(tmp_path / "gateway.sock") as gateway,
        tcp_as_unix(cdp_port, tmp_path / "cdp.sock") as cdp,
    ):
        meter = gateway.open_run(run_id="r", model=model, run=run)
        sockets = {GATEWAY: gateway.socket_path, CDP: cdp}
        async with run_context(
            tmp_path, "web", sockets, token=meter.token, model=model, mounts=(info,)
        ) as context:
            await harness.provision(context.sandbox)
            agent = await harness.open(context)
            result = await harness.perform(agent, task.instruction)
            claim = await harness.collect(agent, context.harness_dir)
            await harness.close(agent)
        assert claim is not None
        assert claim.usage == meter.metered.usage
        assert claim.turns == meter.metered.turns
        assert 15 <= meter.metered.turns <= 26
    return result


def judged(task: WebTask, placed: dict[str, Any]) -> Score:
    body = {name: value for name, value in placed.items() if name != "number"}
    request = InterceptedRequest(
        url="http://teahouse.example/api/orders", method="POST", params={}, body=body, timestamp=0
    )
    return score_web(task, Intercepted(request=request), StopReason.INTERCEPTED)


async def test_the_solving_policy_places_the_order_asked_for(tmp_path: Path, task: WebTask) -> None:
    async with serve_site("teahouse", tmp_path / "site.sock") as site:
        result = await order(task, "solve", tmp_path, tmp_path / "site.sock")
        (placed,) = site.orders
    assert result == AgentResult(FinishReason.STOP, 0, "stop")
    assert judged(task, placed).verdict is Verdict.PASS


async def test_the_wrong_policy_places_another_order(tmp_path: Path, task: WebTask) -> None:
    async with serve_site("teahouse", tmp_path / "site.sock") as site:
        await order(task, "wrong", tmp_path, tmp_path / "site.sock")
        (placed,) = site.orders
    score = judged(task, placed)
    assert (score.verdict, score.cause) == (Verdict.FAIL, Cause.AGENT)
    failed = {check.name for check in score.checks if not check.ok}
    assert failed == {"body.items set", "body.newsletter equals", "body.total number"}
