"""A gateway for whoever only wants to meter an agent: one model, one token, no run around it."""

from __future__ import annotations

import ipaddress
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from clawbench.gateway.budget import Budget
from clawbench.gateway.meter import Meter
from clawbench.gateway.server import Gateway
from clawbench.models import ApiType, Model
from clawbench.results import RunDirectory, now, write_json

SUMMARY = "summary.json"


@dataclass
class Session:
    """What is metered here, and where."""

    meter: Meter
    address: str
    """`http://host:port`"""
    run: RunDirectory
    started: str = field(default_factory=now)
    _began: float = field(default_factory=time.monotonic)

    def base_urls(self) -> dict[str, str]:
        """What the usual clients of each API want to be given."""
        openai = f"{self.address}/v1"
        return {
            ApiType.OPENAI_COMPLETIONS.value: openai,
            ApiType.OPENAI_RESPONSES.value: openai,
            ApiType.ANTHROPIC_MESSAGES.value: self.address,
            ApiType.GOOGLE.value: self.address,
        }

    def environment(self) -> dict[str, str]:
        """The variables that send the official client library of the model's API here."""
        url, token = self.base_urls()[self.meter.model.api_type.value], self.meter.token
        if self.meter.model.api_type is ApiType.ANTHROPIC_MESSAGES:
            return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": token}
        if self.meter.model.api_type is ApiType.GOOGLE:
            return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": token}
        return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": token}

    def summary(self) -> dict[str, Any]:
        """All figures so far."""
        meter = self.meter
        return {
            "model": meter.model.name,
            "model_settings": meter.model.settings(),
            "started": self.started,
            "duration_s": round(time.monotonic() - self._began, 3),
            "measured": meter.metered.model_dump(mode="json"),
            "estimated_calls": meter.estimated_calls,
            "price": None if meter.price is None else meter.price.model_dump(mode="json"),
        }


@asynccontextmanager
async def metering(
    model: Model,
    output: Path,
    *,
    host: str,
    port: int,
    budget: Budget,
    on_change: Callable[[], None] | None = None,
) -> AsyncIterator[Session]:
    """Listen until left; then the files are complete, the summary last."""
    async with AsyncExitStack() as stack:
        scratch = Path(tempfile.mkdtemp(prefix="clawbench-", dir="/tmp"))
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        gateway = await stack.enter_async_context(Gateway(scratch / "gateway.sock"))
        gateway.check(model, budget)
        listening_on = await gateway.serve_tcp(host, port)
        run = _new_directory(output)
        name = datetime.now().strftime("%Y%m%d-%H%M%S")
        meter = gateway.open_run(run_id=name, model=model, run=run, budget=budget, on_change=on_change)
        session = Session(meter, f"http://{_in_url(host)}:{listening_on}", run)
        try:
            yield session
        finally:
            await meter.close()
            write_json(run.path / SUMMARY, session.summary())


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _new_directory(output: Path) -> RunDirectory:
    name = datetime.now().strftime("%Y%m%d-%H%M%S")
    number = 1
    while True:
        path = output / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        run = RunDirectory(path)
        run.data.mkdir()
        return run
