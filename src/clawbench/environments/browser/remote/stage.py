"""A session on a browser that runs elsewhere: a context of its own, watched like a browser of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from clawbench.environments.browser.cdp import CdpError
from clawbench.environments.browser.gate.interceptor import Interceptor
from clawbench.environments.browser.protocol import SessionConfig
from clawbench.environments.browser.recorder import BINDING, WORLD, Recorder, names_in_use
from clawbench.environments.browser.relay import RelayRules
from clawbench.environments.browser.remote.canvas import Canvas
from clawbench.environments.browser.remote.connection import ContextConnection
from clawbench.environments.browser.remote.endpoint import parse_endpoint
from clawbench.environments.browser.remote.place import Place, take_place
from clawbench.environments.browser.remote.reaching import product, reach
from clawbench.environments.browser.remote.screencast import Screencast
from clawbench.environments.browser.stage import Stage, Watchers, ended_in_time, open_relay, watch_browser
from clawbench.environments.browser.video import Video
from clawbench.errors import EnvironmentFailedError
from clawbench.sandbox import Guardian

FIRST_PICTURE_WITHIN_S = 10.0

LOST = (
    "The connection to the browser was lost while it was running. It cannot be kept from sending: "
    "requests it held at that moment may have left."
)
NOT_FAIL_CLOSED = (
    "Isolation is partial: the browser runs elsewhere, with a network of its own. "
    "What a browser sends past CDP's Fetch domain is not held, and nothing is should the connection break."
)
DEFAULT_CONTEXT = (
    "The browser refused a context of the run's own: the default one was used, and all that was open in it "
    "was loaded again, recorded and intercepted."
)
NO_PICTURES = "The browser sent no pictures: video and screenshots stay black."


async def open_remote_stage(
    stack: AsyncExitStack, config: SessionConfig, _scratch: Path, _guardian: Guardian, watch: Watchers
) -> Stage:
    """Return once every request of the run's context is intercepted and recorded."""
    assert config.remote is not None
    canvas = Canvas((config.width, config.height))
    stack.callback(canvas.close)
    cdp, version = await _connect(stack, config.remote)
    place = await take_place(cdp, canvas.size)
    screencast = Screencast(cdp, canvas)
    stack.push_async_callback(ended_in_time, "screencast", screencast.close)
    watch = replace(watch, failed=_abandoning(place, watch.failed))
    parts = await _watched(stack, config, watch, cdp, canvas)
    stack.push_async_callback(ended_in_time, "browser context", place.leave)
    stack.push_async_callback(ended_in_time, "screencast", screencast.close)
    seen = await _has_pictures(screencast)
    relay = await open_relay(stack, config, cdp, _rules(config), watch, *parts[:2])
    cdp.on_close(lambda: watch.browser_gone(LOST))
    if cdp.closed.is_set():
        watch.browser_gone(LOST)
    return Stage(version, _notices(version, place, pictures=seen), *parts, relay)


async def _connect(stack: AsyncExitStack, url: SecretStr) -> tuple[ContextConnection, str]:
    endpoint = parse_endpoint(url.get_secret_value(), {})
    cdp = ContextConnection(await reach(endpoint))
    stack.callback(cdp.close)
    return cdp, await product(cdp, endpoint)


def _abandoning(place: Place, failed: Callable[[str], None]) -> Callable[[str], None]:
    """What went wrong on our side must not let anything out on theirs."""

    def abandon_and_tell(detail: str) -> None:
        place.abandon()
        failed(detail)

    return abandon_and_tell


async def _watched(
    stack: AsyncExitStack, config: SessionConfig, watch: Watchers, cdp: ContextConnection, canvas: Canvas
) -> tuple[Interceptor, Recorder, Video]:
    try:
        return await watch_browser(stack, config, watch, cdp, canvas)
    except CdpError as error:
        raise EnvironmentFailedError(
            f"The browser cannot be watched: {error}. It must allow Fetch, Target and Page over CDP; "
            "use another browser or provider"
        ) from None


async def _has_pictures(screencast: Screencast) -> bool:
    try:
        await asyncio.wait_for(screencast.drawn.wait(), FIRST_PICTURE_WITHIN_S)
    except TimeoutError:
        return False
    return True


def _rules(config: SessionConfig) -> RelayRules:
    """Files are named as they lie here: their content is sent (`uploads`). Nothing is downloaded."""
    uploads = {name: str(file) for name, file in config.uploads.items()}
    return RelayRules(WORLD, BINDING, names_in_use(), uploads=uploads, downloads="")


def _notices(version: str, place: Place, *, pictures: bool) -> list[str]:
    notices = [f"The run used a browser that ran elsewhere: {version}", NOT_FAIL_CLOSED]
    if place.own is None:
        notices.append(DEFAULT_CONTEXT)
    if ahead := place.cdp.clock_ahead_s:
        notices.append(f"The browser's clock was {ahead:+.2f} s off ours; its times were set right.")
    if not pictures:
        notices.append(NO_PICTURES)
    return notices
