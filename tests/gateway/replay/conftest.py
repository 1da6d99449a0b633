"""A run recorded through a real gateway, and its replay through another."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawbench.gateway import Gateway, Meter, ReplayPlan, read_record
from clawbench.models import ApiType, Model
from clawbench.results import ReplayMode, RunDirectory, StopReason


@dataclass
class Session:
    """One run at the gateway, and a client in the place of its harness."""

    meter: Meter
    run: RunDirectory
    client: httpx.AsyncClient


@dataclass
class Deck:
    """Opens runs; those with a plan answer from a record."""

    gateway: Gateway
    new_run: Callable[[], RunDirectory]

    @contextlib.asynccontextmanager
    async def open(self, model: Model, **options: Any) -> AsyncIterator[Session]:
        run = self.new_run()
        meter = self.gateway.open_run(run_id="r", model=model, run=run, **options)
        transport = httpx.AsyncHTTPTransport(uds=str(self.gateway.socket_path))
        headers = {"authorization": f"Bearer {meter.token}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gateway", headers=headers
        ) as client:
            yield Session(meter, run, client)
        await meter.close()

    def replay(
        self,
        recorded: Session,
        mode: ReplayMode = ReplayMode.OR_FAIL,
        stop_reason: StopReason | None = StopReason.AGENT_EXITED,
        model: Model | None = None,
        missing: int = 0,
    ) -> contextlib.AbstractAsyncContextManager[Session]:
        """The recorded session's record as the model; nothing else can be reached."""
        calls = read_record(recorded.run)
        plan = ReplayPlan(calls=calls, mode=mode, run_id="r", stop_reason=stop_reason, missing=missing)
        nowhere = recorded.meter.model.model_copy(
            update={"base_url": "http://127.0.0.1:9/v1", "api_keys": ()}
        )
        return self.open(model or nowhere, replay=plan)


@pytest.fixture
def deck(gateway: Gateway, new_run: Callable[[], RunDirectory]) -> Deck:
    return Deck(gateway, new_run)


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., Model]:
    def create(policy: str, api_type: ApiType = ApiType.OPENAI_COMPLETIONS) -> Model:
        file = tmp_path / "policy.yaml"
        file.write_text(policy)
        return Model(name="scripted-policy", base_url=f"scripted:{file}", api_type=api_type)

    return create
