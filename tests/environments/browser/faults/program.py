"""`clawbench` with one harness and one site more.

The site is served by the test's own process, which no fault touches.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from pathlib import Path

from clawbench.cli import main
from clawbench.harnesses import registry
from clawbench.runner.stages import web
from clawbench.sites import Site, serving
from tests.environments.browser.faults.site import HOST

BUSY = EntryPoint("busy", "tests.environments.browser.faults.harness:BusyHarness", registry.GROUP)


@asynccontextmanager
async def site_elsewhere(name: str, socket_path: Path) -> AsyncIterator[Site]:
    socket_path.symlink_to(os.environ["FAULTS_SITE"])
    yield Site(name, (HOST,), f"http://{HOST}/", [])


if __name__ == "__main__":
    registry._entries = lambda: {"busy": BUSY}
    serving._SITES["faults"] = serving._SITES["doorbell"]  # a name that is known, and never served from here
    web.serve_site = site_elsewhere
    main()
