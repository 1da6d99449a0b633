"""Brings up all parts of a browser session in order, and takes them down in the opposite order."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection
from clawbench.environments.browser.crashes import CrashWatch
from clawbench.environments.browser.display import Display, start_display
from clawbench.environments.browser.gate.egress import Egress
from clawbench.environments.browser.gate.interceptor import Interceptor
from clawbench.environments.browser.launch import DOWNLOADS, Browser, launch, short_directory
from clawbench.environments.browser.online import Online
from clawbench.environments.browser.protocol import SessionConfig
from clawbench.environments.browser.recorder import BINDING, WORLD, Recorder, names_in_use
from clawbench.environments.browser.recorder.lines import RecordFile
from clawbench.environments.browser.relay import LEAVING, Relay, RelayRules
from clawbench.environments.browser.screen import Screen
from clawbench.environments.browser.screenshare import ScreenShare
from clawbench.environments.browser.video import Video
from clawbench.environments.browser.vigil import keep_vigil
from clawbench.results import InterceptedRequest, RunDirectory, cannot_be_kept
from clawbench.sandbox import Guardian, Mount, Sandbox, open_sandbox
from clawbench.tasks import EvalSchema, Method

log = logging.getLogger(__name__)

STEP_TIMEOUT_S = 20.0
"""No part may hold up the end of a session for longer."""


@dataclass(frozen=True)
class Watchers:
    """Whom the parts tell what happens."""

    progress: Callable[[int, int], None]
    """How many actions and requests there have been."""
    commanded: Callable[[int], None]
    """How many commands the agent has given."""
    matched: Callable[[InterceptedRequest], None]
    failed: Callable[[str], None]
    """The session cannot go on: nothing may leave the browser any more."""
    browser_gone: Callable[[str], None]
    noticed: Callable[[str], None]
    """Something the record should say; the session goes on."""


@dataclass(frozen=True)
class Stage:
    """The parts of a session that is ready."""

    version: str
    """The browser's name and version."""
    notices: list[str]
    """What the record should say about this browser."""
    interceptor: Interceptor
    recorder: Recorder
    video: Video
    relay: Relay


async def open_stage(
    stack: AsyncExitStack, config: SessionConfig, scratch: Path, guardian: Guardian, watch: Watchers
) -> Stage:
    """Return once every request is intercepted and recorded; `stack` takes everything down."""
    display = await _display(stack, config, scratch, guardian)
    screen = Screen(display.frame_buffer)
    stack.callback(screen.close)
    video = make_video(config, watch, screen)
    stack.callback(video.abandon)
    browser, _ = await asyncio.gather(_browser(stack, config, scratch, guardian, display), video.prepare())
    egress = await _exit(stack, config, browser)
    watch = replace(watch, failed=_cutting(egress, watch.failed))
    video.on_unwritable = lambda problem: watch.failed(cannot_be_kept(problem))
    on_target = Online(browser.cdp).tell
    parts = await watch_browser(stack, config, watch, browser.cdp, screen, video, on_target)
    parts[1].explain_by(egress.why)
    stack.callback(_close_before, parts[1], egress)
    await egress.serve(browser.websocket_listener, parts[0].sockets.admission())
    relay = await open_relay(stack, config, browser.cdp, _rules(config, browser), watch, *parts[:2])
    await _share_screen(stack, config, scratch, guardian, display)
    stack.callback(keep_vigil(browser, display, gone=watch.browser_gone, failed=watch.failed))
    notices = [] if browser.sandboxed else ["Chromium's own sandbox is off: it cannot work here"]
    return Stage(browser.version, notices, *parts, relay)


def make_video(config: SessionConfig, watch: Watchers, screen: Screen) -> Video:
    return Video(
        screen,
        RunDirectory(config.run_dir).recording,
        on_problem=lambda problem: watch.noticed(f"The video has a gap: {problem}"),
        on_unwritable=lambda problem: watch.failed(cannot_be_kept(problem)),
    )


async def watch_browser(
    stack: AsyncExitStack,
    config: SessionConfig,
    watch: Watchers,
    cdp: CdpConnection,
    screen: Screen,
    video: Video | None = None,
    on_target: Callable[[str], None] = lambda _: None,
) -> tuple[Interceptor, Recorder, Video]:
    """Return once every request of the browser is intercepted and everything in it is recorded.

    `on_target` hears of each session on a target that does not run yet.
    """
    run = RunDirectory(config.run_dir)
    video = video or make_video(config, watch, screen)
    recorder = Recorder(
        cdp,
        run,
        screen,
        record_passwords=config.record_passwords,
        on_progress=watch.progress,
        on_problem=lambda problem: watch.failed(cannot_be_kept(problem)),
    )
    interceptor = Interceptor(
        cdp,
        EvalSchema.model_validate(config.eval_schema),
        run,
        on_request=recorder.on_paused,
        on_blocked=recorder.on_blocked,
        on_match=watch.matched,
        on_failure=lambda error: watch.failed(f"A request could not be decided: {error!r}"),
    )

    def prepare(session: str) -> None:
        interceptor.sockets.follow(session)
        on_target(session)

    recorder.on_target = prepare
    await interceptor.start()
    await reopen_pages(cdp)
    stack.push_async_callback(ended_in_time, "recorder", recorder.close)
    await recorder.start()
    await CrashWatch(cdp, watch.noticed).start()
    await video.start()
    stack.push_async_callback(ended_in_time, "video", video.stop)
    return interceptor, recorder, video


def tell_of_end(cdp: CdpConnection, watch: Watchers) -> None:
    """Report the end of the connection to the browser, also where it has ended already."""

    def ended() -> None:
        watch.browser_gone("The browser ended by itself.")

    cdp.on_close(ended)
    if cdp.closed.is_set():
        ended()


async def _display(
    stack: AsyncExitStack, config: SessionConfig, scratch: Path, guardian: Guardian
) -> Display:
    sandbox = _sandbox(config, scratch, guardian, "display")
    stack.push_async_callback(ended_in_time, "display's sandbox", sandbox.close)
    display = await start_display(sandbox, scratch, width=config.width, height=config.height)
    stack.push_async_callback(ended_in_time, "display", display.close)
    return display


async def _browser(
    stack: AsyncExitStack, config: SessionConfig, scratch: Path, guardian: Guardian, display: Display
) -> Browser:
    sandbox = _sandbox(config, scratch, guardian, "browser")
    stack.push_async_callback(ended_in_time, "browser", sandbox.close)
    for inside, file in config.uploads.items():
        sandbox.mount(Mount(file, inside))
    browser = await launch(
        sandbox,
        display,
        config.browser,
        scratch,
        width=config.width,
        height=config.height,
        temporary=short_directory(stack, guardian) if config.sandbox == "none" else None,
        files=next((os.path.dirname(sandbox.inside(name)) for name in config.uploads), "/"),
        popups_as_asked=config.view == "control",
        holds_gets=EvalSchema.model_validate(config.eval_schema).method is Method.GET,
        trusted_key=config.trusted_key,
    )
    stack.callback(browser.cdp.close)
    return browser


async def _exit(stack: AsyncExitStack, config: SessionConfig, browser: Browser) -> Egress:
    """Open the browser's only way out."""
    egress = Egress(config.egress, before_sending=browser.catch_up)
    browser.cdp.on_close(egress.close)
    stack.callback(egress.close)
    await egress.serve(browser.listener)
    return egress


def _close_before(recorder: Recorder, egress: Egress) -> None:
    """Nothing may leave any more when the recorder stops to listen."""
    recorder.way_out_closes()
    egress.close()


def _cutting(egress: Egress, failed: Callable[[str], None]) -> Callable[[str], None]:
    """`failed`, closing the way out first."""

    def cut_and_tell(detail: str) -> None:
        egress.close()
        failed(detail)

    return cut_and_tell


def _sandbox(config: SessionConfig, scratch: Path, guardian: Guardian, name: str) -> Sandbox:
    """Display and browser share memory, so that pictures need not go through the display's socket."""
    home = scratch / f"{name}-home"
    home.mkdir()
    return open_sandbox(
        config.sandbox,
        home=home,
        guardian=guardian,
        nested_userns=name == "browser",
        share_ipc=config.own_ipc and name != "view",
    )


def _rules(config: SessionConfig, browser: Browser) -> RelayRules:
    uploads = {name: browser.sandbox.inside(name) for name in config.uploads}
    downloads = browser.sandbox.inside(DOWNLOADS)
    return RelayRules(WORLD, BINDING, names_in_use(), uploads=uploads, downloads=downloads)


async def open_relay(
    stack: AsyncExitStack,
    config: SessionConfig,
    cdp: CdpConnection,
    rules: RelayRules,
    watch: Watchers,
    interceptor: Interceptor,
    recorder: Recorder,
) -> Relay:
    log_file = RecordFile(
        RunDirectory(config.run_dir).relay_log, lambda problem: watch.failed(cannot_be_kept(problem))
    )

    def before_command(method: str, target: str | None) -> None:
        interceptor.breadth.commanded(method)
        if method in LEAVING:
            recorder.before_leaving(target)

    relay = Relay(
        cdp,
        rules,
        log_file,
        recorder.contexts,
        on_command=watch.commanded,
        before_command=before_command,
    )
    stack.push_async_callback(ended_in_time, "relay", relay.close)
    await relay.serve(config.relay_socket)
    return relay


async def _share_screen(
    stack: AsyncExitStack, config: SessionConfig, scratch: Path, guardian: Guardian, display: Display
) -> None:
    if config.view == "none" or config.vnc_socket is None:
        return
    sandbox = _sandbox(config, scratch, guardian, "view")
    share = ScreenShare(sandbox, display, control=config.view == "control", output=scratch / "view.log")
    stack.push_async_callback(ended_in_time, "screen share", share.close)
    await share.serve(config.vnc_socket)


async def reopen_pages(cdp: CdpConnection) -> None:
    """Load every open document again: those that were there before the interceptor escape it."""
    targets = (await cdp.send("Target.getTargets"))["targetInfos"]
    for target in targets:
        if target["type"] == "page":
            await _reload(cdp, target["targetId"])


async def _reload(cdp: CdpConnection, target: str) -> None:
    attached = await cdp.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    session = attached["sessionId"]
    loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_load(_params: dict[str, Any], origin: str | None) -> None:
        if origin == session and not loaded.done():
            loaded.set_result(None)

    remove = cdp.on("Page.loadEventFired", on_load)
    try:
        await cdp.send("Page.enable", session=session)
        await cdp.send("Page.reload", session=session)
        await asyncio.wait_for(loaded, STEP_TIMEOUT_S)
    finally:
        remove()
        cdp.notify("Target.detachFromTarget", {"sessionId": session})


async def ended_in_time(name: str, end: Callable[[], Awaitable[Any]]) -> None:
    """Run one step of taking down; what it does wrong is logged and stops no other step."""
    try:
        await asyncio.wait_for(end(), STEP_TIMEOUT_S)
    except Exception:
        log.exception("%s did not end cleanly", name)
