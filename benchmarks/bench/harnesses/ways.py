"""Two ways to start a harness at the same small work with the same configuration and the same gateway."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from clawbench.harnesses import GATEWAY, GATEWAY_PORT, RunContext, get_harness
from clawbench.harnesses.program import Launch, ProgramHarness
from clawbench.models import SCRIPTED, Model
from clawbench.results import RunDirectory
from clawbench.runner import Host
from clawbench.runner.checking.policy import rehearse
from clawbench.runner.checking.tasks import EDIT, coding_task
from clawbench.runner.services import BridgedServices
from clawbench.runner.stages import WORKSPACE
from clawbench.sandbox import Bridge, Mount, open_sandbox
from clawbench.tasks import coding_prompt

ADAPTER, BY_HAND = "adapter", "by hand"


@dataclass(frozen=True)
class Way:
    """How the harness is started."""

    name: str
    sandbox: str


WAYS = (Way(BY_HAND, "none"), Way(ADAPTER, "none"), Way("adapter, sandboxed", "bwrap"))


class NotDoneError(Exception):
    """The harness did not do its work: nothing was measured."""


async def timed(host: Host, name: str, way: Way) -> float:
    """Seconds from the decision to start the harness to its end, everything read that it left."""
    harness = get_harness(name)
    assert isinstance(harness, ProgramHarness)
    with tempfile.TemporaryDirectory(prefix="clawbench-bench-") as directory:
        async with _surroundings(host, harness, way, Path(directory)) as (context, prompt):
            if way.name == BY_HAND:
                took = await _by_hand(harness, context, prompt, host.gateway.socket_path)
            else:
                took = await _adapted(harness, context, prompt)
        if EDIT.new not in (Path(directory) / "work" / "settings.txt").read_text():
            raise NotDoneError(f"{name} ({way.name}) did not change the line")
    return took


@asynccontextmanager
async def _surroundings(
    host: Host, harness: ProgramHarness, way: Way, directory: Path
) -> AsyncIterator[tuple[RunContext, str]]:
    for part in ("home", "work", "harness"):
        (directory / part).mkdir()
    (directory / "work" / "settings.txt").write_text(f"size = 3\n{EDIT.old}\n")
    work = Mount(directory / "work", WORKSPACE, writable=True)
    sandbox = open_sandbox(way.sandbox, home=directory / "home", mounts=[work], guardian=host.guardian)
    workspace = sandbox.inside(WORKSPACE)
    policy = directory / "policy.yaml"
    lines = harness.edits(replace(EDIT, path=f"{workspace}/settings.txt"))
    policy.write_text(yaml.safe_dump(rehearse(lines), allow_unicode=True))
    model = Model(name="scripted", base_url=f"{SCRIPTED}{policy}", api_type=harness.apis[0])
    names = {"suite": "b", "task": "t", "harness": harness.name, "model": "m"}
    run = RunDirectory.create(directory / "runs", batch="b", **names)
    meter = host.gateway.open_run(run_id=uuid.uuid4().hex[:12], model=model, run=run)
    services = BridgedServices({GATEWAY: host.gateway.socket_path})
    try:
        yield (
            RunContext(
                kind="coding",
                sandbox=sandbox,
                model=model,
                token=meter.token,
                services=services,
                listen={GATEWAY: sandbox.free_port(GATEWAY_PORT)},
                workspace=workspace,
                harness_dir=directory / "harness",
                time_limit_s=120,
            ),
            coding_prompt(await coding_task(directory), workspace),
        )
    finally:
        await services.close()
        await meter.close()
        await sandbox.close()


async def _adapted(harness: ProgramHarness, context: RunContext, prompt: str) -> float:
    begun = time.monotonic()
    await harness.provision(context.sandbox)
    agent = await harness.open(context)
    await harness.perform(agent, prompt)
    await harness.collect(agent, context.harness_dir)
    await harness.close(agent)
    return time.monotonic() - begun


async def _by_hand(harness: ProgramHarness, context: RunContext, prompt: str, gateway: Path) -> float:
    """What somebody would do who has written the configuration before."""
    await harness.provision(context.sandbox)
    launch = harness.configure(context, harness.runtime, prompt)
    with socket.create_server(("127.0.0.1", context.listen[GATEWAY])) as listener:
        bridge = Bridge(listener, gateway)
        bridge.start()
        begun = time.monotonic()
        await _run(launch, context)
        took = time.monotonic() - begun
        await bridge.close()
    return took


async def _run(launch: Launch, context: RunContext) -> None:
    home = context.sandbox.home
    (home / "tmp").mkdir(exist_ok=True)
    basic = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
    }
    with (context.harness_dir / "stdout.txt").open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *launch.argv,
            env={**basic, **launch.env},
            cwd=launch.cwd or context.workspace,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        await process.wait()
