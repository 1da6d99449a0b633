"""When a browser that did not start is tried again without Chromium's own sandbox."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from clawbench.environments.browser.launch import sandbox_refused
from clawbench.sandbox import Ended

REFUSAL = "[2:2:ERROR:zygote_host_impl_linux.cc] Running as root without --no-sandbox is not supported."
LEFT_ALONE = "[9:9:ERROR:zygote_linux.cc] write: Broken pipe"


@pytest.mark.parametrize("exit_code", [1, -signal.SIGTRAP, -signal.SIGABRT])
def test_a_sandbox_that_cannot_be_had_is_done_without(tmp_path: Path, exit_code: int) -> None:
    log = tmp_path / "browser.log"
    log.write_text(REFUSAL)
    assert sandbox_refused(Ended(exit_code), log)


@pytest.mark.parametrize("exit_code", [0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGSEGV])
def test_a_browser_that_was_ended_keeps_its_sandbox(tmp_path: Path, exit_code: int) -> None:
    log = tmp_path / "browser.log"
    log.write_text(LEFT_ALONE)
    assert not sandbox_refused(Ended(exit_code), log)


def test_a_crash_is_no_refusal(tmp_path: Path) -> None:
    log = tmp_path / "browser.log"
    log.write_text("[2:2:FATAL:gpu_process.cc] Check failed: context.")
    assert not sandbox_refused(Ended(-signal.SIGTRAP), log)
