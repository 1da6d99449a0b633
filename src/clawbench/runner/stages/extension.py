"""A person at their own browser: the extension records, the recorder API writes, nothing is isolated."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from clawbench.doctor import find_browser
from clawbench.environments.browser.api import PersonRecording, ServedApi, build_extension_app, serve_api
from clawbench.environments.browser.extension import write_extension
from clawbench.environments.browser.extension.launching import own_browser, runs_unsandboxed
from clawbench.environments.browser.extension.settings import ExtensionSettings
from clawbench.environments.browser.launch import short_directory
from clawbench.environments.browser.vnc.server import LOOPBACK, listen
from clawbench.errors import MissingPartError
from clawbench.results import RunDirectory, RunRecord, Score, write_json
from clawbench.runner.host import Host
from clawbench.runner.progress import Progress
from clawbench.runner.stages.ending import CUT_OFF, read_interception, true_stop, write_not_intercepted
from clawbench.runner.stages.handouts import hand_out
from clawbench.runner.stops import Stop
from clawbench.sandbox import Bridge, Mount, open_sandbox
from clawbench.scoring.web import score_web
from clawbench.sites import serve_site
from clawbench.tasks import WebTask, web_prompt

HTTPS = 443


class ExtensionStage:
    """The browser side of a recording by hand."""

    mounts: tuple[Mount, ...] = ()
    sockets: Mapping[str, Path] = {}

    def __init__(
        self,
        settings: ExtensionSettings,
        task: WebTask,
        run: RunDirectory,
        host: Host,
        scratch: Path,
        progress: Progress,
        run_id: str,
        seed: str,
    ) -> None:
        self._settings, self._task, self._run, self._host = settings, task, run, host
        self._scratch, self._progress = scratch, progress
        self._resources = AsyncExitStack()
        self._last_activity = time.monotonic()
        self._files = scratch / "my-info"
        self._handouts = hand_out(task, self._files, seed)
        write_not_intercepted(run, CUT_OFF)
        write_json(run.eval_schema, task.eval_schema.model_dump(mode="json", exclude_none=True))
        directory = str(self._files)
        self.prompt = web_prompt(task, [f"{directory}/{name}" for name in self._handouts.names], directory)
        self._recording = PersonRecording(
            run,
            task.eval_schema,
            run_id=run_id,
            task=f"{task.suite}/{task.id}",
            show_secrets=task.record_passwords,
            on_progress=self._note,
            on_notice=progress.tell,
        )

    async def up(self) -> None:
        """Return when the extension records and holds the final request."""
        recording = self._recording
        api = await self._resources.enter_async_context(
            serve_api(
                lambda token: build_extension_app(recording, token),
                secrets.token_urlsafe(24),
                self._settings.port,
            )
        )
        self._resources.push_async_callback(recording.close)
        extension = await asyncio.to_thread(write_extension, self._host.cache / "extension")
        await asyncio.to_thread(self._handouts.finish)
        self._progress.tell(self.prompt)
        self._progress.tell(invitation(api, extension, launched=self._settings.launch))
        if self._settings.launch:
            await self._launch(api, extension)
        await recording.armed()
        if recording.status().state == "recording":
            self._progress.tell("The extension is paired: recording.")

    async def _launch(self, api: ServedApi, extension: Path) -> None:
        program = find_browser()
        if program is None:
            raise MissingPartError("Chromium", "--launch opens it", "Run `clawbench doctor --fix`")
        if runs_unsandboxed():
            self._recording.notice("Chromium's own sandbox is off: it does not work for root.")
        home = self._scratch / "own-browser"
        home.mkdir(mode=0o700)
        sandbox = open_sandbox("none", home=home, guardian=self._host.guardian)
        self._resources.push_async_callback(sandbox.close)
        hosts, trusted_key = await self._site_hosts()
        browser = await self._resources.enter_async_context(
            own_browser(
                program,
                sandbox,
                self._scratch,
                extension=extension,
                url=api.pairing_url,
                files=self._files,
                hosts=hosts,
                temporary=short_directory(self._resources, self._host.guardian),
                trusted_key=trusted_key,
            )
        )
        browser.on_close(self._browser_closed)
        if browser.closed.is_set():
            self._browser_closed()

    def _browser_closed(self) -> None:
        self._recording.leave("The browser was closed")

    async def _site_hosts(self) -> tuple[dict[str, int], str | None]:
        """The names of a bundled site with the ports that answer for them, and the key to trust there."""
        if self._task.site is None:
            return {}, None
        socket = self._scratch / "site.sock"
        site = await self._resources.enter_async_context(serve_site(self._task.site, socket))
        ports = dict.fromkeys(site.hosts, self._bridged(socket))
        if site.tls_socket is not None:
            tls_port = self._bridged(site.tls_socket)
            ports = {f"{host}:{HTTPS}": tls_port for host in site.hosts} | ports
        return ports, site.key_hash

    def _bridged(self, socket: Path) -> int:
        """A loopback port that leads to this socket."""
        listener = listen(LOOPBACK, 0)
        self._resources.callback(listener.close)
        bridge = Bridge(listener, socket)
        self._resources.push_async_callback(bridge.close)
        bridge.start()
        port: int = listener.getsockname()[1]
        return port

    def _note(self, actions: int, requests: int) -> None:
        self._last_activity = time.monotonic()
        self._progress.actions, self._progress.requests = actions, requests
        self._progress.changed()

    async def stop_signal(self) -> Stop:
        return Stop(*await self._recording.over())

    def last_activity(self) -> float:
        return self._last_activity

    async def down(self, stop: Stop) -> Stop:
        await self._recording.close()
        intercepted = read_interception(self._run.interception).intercepted
        stop = true_stop(stop, intercepted, None, None)
        if not intercepted:
            write_not_intercepted(self._run, stop)
        return stop

    def describe(self, record: RunRecord) -> None:
        record.actions, record.requests = self._progress.actions, self._progress.requests
        record.notices = list(dict.fromkeys((*record.notices, *self._recording.notices)))

    async def score(self, record: RunRecord) -> Score:
        assert record.stop_reason is not None
        return score_web(self._task, read_interception(self._run.interception), record.stop_reason)

    async def close(self) -> None:
        await self._resources.aclose()


def invitation(api: ServedApi, extension: Path, *, launched: bool) -> str:
    """What the person has to do, for the terminal."""
    steps = (
        "A browser opens with the extension in it. Do the task there; it is closed when the recording ends."
        if launched
        else "1. Load the extension into your Chrome or Chromium, once: chrome://extensions,\n"
        f"   developer mode, “Load unpacked”, {extension}\n"
        "   (loaded before: press its reload arrow after an update of Clawbench)\n"
        f"2. Open this address in that browser, and keep it to yourself:\n   {api.pairing_url}\n"
        "Everything you do in that browser is recorded from then on, in all its tabs. Then do the task."
    )
    end = "It ends with the final request, with Finish in the extension's popup, or with Ctrl-C here."
    return f"{steps}\n{end}\n{api.for_tools}"
