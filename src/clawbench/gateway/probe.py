"""Does a model answer? One tiny request through a gateway of its own."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

import httpx

from clawbench.errors import InputError
from clawbench.gateway.dialects import DIALECTS
from clawbench.gateway.server import Gateway
from clawbench.models import Model
from clawbench.results import RunDirectory

PATIENCE_S = 60.0


async def probe_model(model: Model) -> str | None:
    """What is wrong with the model, or None if it answers."""
    with tempfile.TemporaryDirectory(prefix="clawbench-") as directory:
        try:
            return await _ask(model, Path(directory))
        except InputError as error:
            return str(error)


async def _ask(model: Model, directory: Path) -> str | None:
    run = RunDirectory.create(directory, batch="b", suite="s", task="t", harness="probe", model=model.name)
    path, body = DIALECTS[model.api_type].question("Answer with the word: ready", model)
    async with Gateway(directory / "gateway.sock") as gateway:
        meter = gateway.open_run(run_id=uuid.uuid4().hex[:12], model=model, run=run)
        transport = httpx.AsyncHTTPTransport(uds=str(gateway.socket_path))
        headers = {"Authorization": f"Bearer {meter.token}"}
        async with httpx.AsyncClient(transport=transport, timeout=PATIENCE_S) as client:
            try:
                answer = await client.post(f"http://gateway{path}", json=body, headers=headers)
            except httpx.HTTPError as error:
                return f"no answer within {PATIENCE_S:g} s ({type(error).__name__})"
        if answer.status_code == httpx.codes.OK and meter.metered.turns == 1:
            return None
        return meter.last_failure or f"HTTP {answer.status_code}: {answer.text[:200]}"
