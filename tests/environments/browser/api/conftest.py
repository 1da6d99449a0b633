"""A recorder API as `clawbench record` serves it, and a client that has its token."""

from __future__ import annotations

import base64
import io
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from clawbench.environments.browser.api import PersonRecording, ServedApi, build_extension_app, serve_api
from clawbench.environments.browser.api.messages import Readiness
from clawbench.results import RunDirectory, read_json_lines
from clawbench.tasks import EvalSchema

TOKEN = "the-token-of-this-session"
TARGET = {"tagName": "A", "id": "a", "className": "", "textContent": "more", "xpath": "/html[1]/body[1]/a[1]"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def png(width: int = 4, height: int = 3, colour: str = "red") -> str:
    picture = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(picture, "PNG")
    return base64.b64encode(picture.getvalue()).decode()


@pytest.fixture(name="png")
def png_fixture() -> Callable[..., str]:
    return png


@pytest.fixture
def click() -> dict[str, Any]:
    """An action that is in order."""
    return {"type": "click", "timestamp": 1, "url": "https://a.example/", "target": TARGET, "x": 1, "y": 2}


@pytest.fixture
def sent() -> dict[str, Any]:
    """A request that is in order."""
    return {
        "id": "7",
        "timestamp": 1,
        "url": "https://a.example/order?size=2",
        "method": "POST",
        "resource_type": "XHR",
        "headers": {"Content-Type": "application/json", "Cookie": "session=1"},
        "body": {"parts": [base64.b64encode(b'{"tea": 2}').decode()]},
    }


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


Recorder = Callable[..., AbstractAsyncContextManager[Recorded]]


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """Serve the API of a recording; `ready`: the extension has said that it holds the final request."""

    @asynccontextmanager
    async def recorded(*, ready: bool = True, port: int = 0, **schema: Any) -> AsyncIterator[Recorded]:
        run = RunDirectory.create(tmp_path / "out", batch="b", suite="s", task="t", harness="h", model="m")
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

    return recorded
