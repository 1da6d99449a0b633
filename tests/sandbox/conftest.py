"""What the sandbox tests share: sandboxes over real directories and one way to run a program in them."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clawbench.sandbox import Command, Ended, Guardian, Limits, Sandbox, open_sandbox
from clawbench.sandbox.interpreter import base_interpreter

PYTHON = str(base_interpreter())

Opener = Callable[..., Sandbox]
Runner = Callable[..., Awaitable[tuple[Ended, str]]]
Prober = Callable[..., Awaitable[Any]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["bwrap", "none"])
def provider(request: pytest.FixtureRequest) -> str:
    needs_bwrap(request.param)
    return str(request.param)


def needs_bwrap(provider: str) -> None:
    if provider == "bwrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")


@pytest.fixture
def opener(tmp_path: Path) -> Opener:
    """A function that opens a sandbox over a new private HOME below the test's directory."""
    count = 0

    def open_one(provider: str = "bwrap", **options: Any) -> Sandbox:
        nonlocal count
        needs_bwrap(provider)
        count += 1
        home = tmp_path / f"home-{count}"
        home.mkdir()
        return open_sandbox(provider, home=home, **options)

    return open_one


@pytest.fixture
def run_inside(tmp_path: Path, opener: Opener) -> Runner:
    """Run a program to its end in a new sandbox; how it ended and what it printed."""

    async def run(
        *argv: str,
        provider: str = "bwrap",
        limits: Limits | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        **options: Any,
    ) -> tuple[Ended, str]:
        sandbox = opener(provider, **options)
        output = tmp_path / "output.txt"
        output.unlink(missing_ok=True)
        command = Command(
            argv, env=env or {}, cwd=cwd, stdout=output, stderr=output, limits=limits or Limits(time_s=30)
        )
        try:
            process = await sandbox.start(command)
            return await process.wait(), output.read_text()
        finally:
            await sandbox.close()

    return run


@pytest.fixture
def probe(run_inside: Runner) -> Prober:
    """Run Python source inside; what it printed as JSON."""

    async def run(source: str, *arguments: str, **options: Any) -> Any:
        ended, output = await run_inside(PYTHON, "-c", source, *arguments, **options)
        assert ended.exit_code == 0, output
        return json.loads(output)

    return run


@pytest.fixture
def guardian() -> Any:
    guardian = Guardian.start()
    yield guardian
    guardian.close()


@pytest.fixture
def until() -> Callable[[Callable[[], Any]], Awaitable[None]]:
    """Wait for something that only looking can tell, such as a file written from inside."""

    async def wait(condition: Callable[[], Any], within_s: float = 10) -> None:
        deadline = time.monotonic() + within_s
        while True:
            if condition():
                return
            assert time.monotonic() < deadline, "it did not happen in time"
            await asyncio.sleep(0.01)

    return wait
