"""A site to do something on, a person to do it, and a recorder that waits for their extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.environments.browser.api.recorded import Recorded, recording_api
from tests.environments.browser.extension.person import Person, Site, serving, somebody


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def person(tmp_path: Path) -> Callable[[], AbstractAsyncContextManager[Person]]:
    return partial(somebody, tmp_path)


@pytest.fixture
def recorder(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Recorded]]:
    return partial(recording_api, tmp_path, ready=False)
