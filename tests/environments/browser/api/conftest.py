"""Messages that are in order, and a recorder to send them to."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.environments.browser.api.recorded import Recorded, recording_api

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


@pytest.fixture
def recorder(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Recorded]]:
    return partial(recording_api, tmp_path)
