"""A recorder API as `clawbench record` serves it, and a client that has its token."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from clawbench.environments.browser.api import PersonRecording, ServedApi, build_extension_app, serve_api
from clawbench.environments.browser.api.messages import Readiness
from clawbench.results import RunDirectory, read_json_lines
from clawbench.tasks import EvalSchema

TOKEN = "the-token-of-this-session"


@dataclass
class Recorded:
    recording: PersonRecording
    api: ServedApi
    run: RunDirectory
    client: httpx.AsyncClient

    async def post(self, path: str, message: Any = None, **more: Any) -> httpx.Response:
        return await self.client.post(path, json=message if message is not None else {}, **more)

    def lines(self, path: Path) -> list[dict[str, Any]]:
        return list(read_json_lines(path))

    def written(self) -> list[str]:
        """Everything in the record that somebody could have sent."""
        files = [path for path in self.run.data.rglob("*") if path.is_file()]
        return [path.name for path in files if path.stat().st_size]

    def actions(self, *types: str) -> list[dict[str, Any]]:
        return [line for line in self.lines(self.run.actions) if not types or line["type"] in types]

    def requests(self, path: str) -> list[dict[str, Any]]:
        return [line for line in self.lines(self.run.requests) if path in line["url"]]

    def interception(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run.interception.read_text())
        return found


@asynccontextmanager
async def recording_api(
    directory: Path, *, ready: bool = True, port: int = 0, **schema: Any
) -> AsyncIterator[Recorded]:
    """Serve the API of a recording; `ready`: as if the extension had said that it holds the final request."""
    run = RunDirectory.create(directory / "out", batch="b", suite="s", task="t", harness="h", model="m")
    recording = PersonRecording(
        run,
        EvalSchema.model_validate({"url_pattern": "/order", "method": "POST", **schema}),
        run_id="r1",
        task="s/t",
        show_secrets=False,
        on_progress=lambda actions, requests: None,
    )
    if ready:
        recording.arm(Readiness(blocking=True))
    async with (
        serve_api(lambda token: build_extension_app(recording, token), TOKEN, port) as api,
        httpx.AsyncClient(base_url=api.url, headers={"Authorization": f"Bearer {TOKEN}"}) as client,
    ):
        try:
            yield Recorded(recording, api, run, client)
        finally:
            await recording.close()
