from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.environments.browser.coverage.way")

from tests.environments.browser.conftest import Opened  # noqa: E402
from tests.environments.browser.coverage.pages import PAGES  # noqa: E402

CoverageOpener = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[Opened]]
SMALL = {"width": 1024, "height": 768}
"""Cheaper to start than a whole screen."""
FILE_SIZE = 10 * 1024 * 1024


@pytest.fixture
def open_site(open_session: Any, tmp_path: Path) -> CoverageOpener:
    """A fresh browser in front of the suite's site, with a file to upload."""

    @asynccontextmanager
    async def opened(schema: Mapping[str, Any]) -> AsyncIterator[Opened]:
        file = tmp_path / "cv.pdf"
        file.write_bytes(b"%PDF" + bytes(FILE_SIZE))
        uploads = {"/my-info/cv.pdf": file}
        async with open_session(dict(schema), uploads=uploads, closing_moment_s=0, **SMALL) as one:
            one.site.pages = dict(PAGES)
            yield one

    return opened
