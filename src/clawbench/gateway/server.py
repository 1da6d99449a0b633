"""The gateway: one per process, on a unix socket, for all runs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import uvicorn

from clawbench.errors import InputError
from clawbench.gateway import core_dumps
from clawbench.gateway.app import build_app
from clawbench.gateway.budget import BatchBudget, Budget
from clawbench.gateway.lines import Lines
from clawbench.gateway.meter import Meter
from clawbench.gateway.prices import PriceList, find_price
from clawbench.gateway.redaction import Redactor
from clawbench.gateway.replay import RecordedUpstream, ReplayPlan
from clawbench.gateway.scripted import ScriptedUpstream, load_policy
from clawbench.gateway.supply import Supply
from clawbench.gateway.upstream import HttpUpstream, Upstream, usable_keys
from clawbench.models import Model
from clawbench.results import RunDirectory

LONGEST_SOCKET_PATH = 107
_WIRE_LOG = logging.getLogger("httpcore")


class Gateway:
    """Between every harness and every model: `async with Gateway(path) as gateway`."""

    def __init__(self, socket_path: Path) -> None:
        self.socket_path = socket_path
        self._meters: dict[str, Meter] = {}
        self._supplies: dict[tuple[object, ...], Supply] = {}
        self._lines = Lines()
        self._app = build_app(self._meters.get)
        self._servers: list[tuple[_Server, asyncio.Task[None]]] = []
        self._noise = _CutConnections()
        self._core_dumps = contextlib.ExitStack()
        self._wire_log_level = logging.NOTSET

    async def __aenter__(self) -> Gateway:
        listener = _unix_socket(self.socket_path)
        self._core_dumps.enter_context(core_dumps.forbidden())
        logging.getLogger("uvicorn.error").addFilter(self._noise)
        # At DEBUG it logs the headers of every answer, which may echo a key.
        self._wire_log_level = _WIRE_LOG.level
        _WIRE_LOG.setLevel(logging.WARNING)
        await self._serve(listener)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(meter.close() for meter in list(self._meters.values())))
        for server, _ in self._servers:
            server.should_exit = True
        await asyncio.gather(*(task for _, task in self._servers))
        await self._lines.close()
        self.socket_path.unlink(missing_ok=True)
        logging.getLogger("uvicorn.error").removeFilter(self._noise)
        _WIRE_LOG.setLevel(self._wire_log_level)
        self._core_dumps.close()

    async def serve_tcp(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen on a TCP port too; returns the port. Raises InputError where that cannot be had."""
        listener = _tcp_socket(host, port)
        listening_on: int = listener.getsockname()[1]
        await self._serve(listener)
        return listening_on

    def open_run(
        self,
        *,
        run_id: str,
        model: Model,
        run: RunDirectory,
        budget: Budget = Budget(),  # noqa: B008
        batch: BatchBudget | None = None,
        replay: ReplayPlan | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> Meter:
        """Begin to meter a run; `replay`: answer from the record of another.

        Raises InputError where its model or policy cannot be used."""
        redactor = Redactor(key.get_secret_value().strip() for key in model.api_keys)
        batch = batch or BatchBudget()
        upstream, prices = self._usable(run_id, model, budget, batch, redactor, replay)
        meter = Meter(
            run_id=run_id,
            model=model,
            run=run,
            budget=budget,
            batch=batch,
            upstream=upstream,
            prices=prices,
            redactor=redactor,
            on_change=on_change,
            on_close=self._forget,
        )
        self._meters[meter.token] = meter
        return meter

    def check(
        self,
        model: Model,
        budget: Budget,
        batch: BatchBudget | None = None,
        replay: ReplayPlan | None = None,
    ) -> None:
        """Raises InputError where a run with this model and budget could not be opened."""
        if replay is None or replay.goes_live:
            self._usable("check", model, budget, batch or BatchBudget(), Redactor(()), None)

    def _usable(
        self,
        run_id: str,
        model: Model,
        budget: Budget,
        batch: BatchBudget,
        redactor: Redactor,
        replay: ReplayPlan | None,
    ) -> tuple[Upstream, PriceList | None]:
        if replay is not None and not replay.goes_live:
            prices = None if replay.price is None else PriceList(replay.price)
            return RecordedUpstream(replay, run_id, model.api_type), prices
        upstream, prices = self._upstream(run_id, model, redactor)
        if prices is None and (budget.cost_usd, batch.cost_usd) != (None, None):
            raise InputError(
                "is unknown, so a cap on cost could not be kept",
                field=f"{model.name}.price",
                remedy="Give the model a price, or cap its tokens or calls instead",
            )
        if replay is not None:
            upstream = RecordedUpstream(replay, run_id, model.api_type, live=upstream)
        return upstream, prices

    def _upstream(self, run_id: str, model: Model, redactor: Redactor) -> tuple[Upstream, PriceList | None]:
        if not model.scripted:
            return HttpUpstream(model, self._lines, redactor, self._supply(model)), find_price(model)
        policy = load_policy(model.policy)
        price = model.price or policy.price
        return ScriptedUpstream(policy, run_id, model.api_type), None if price is None else PriceList(price)

    def _supply(self, model: Model) -> Supply:
        """What all runs with this model share."""
        same = (model.base_url, model.upstream_name, model.api_keys)
        if same not in self._supplies:
            self._supplies[same] = Supply(model.name, usable_keys(model))
        return self._supplies[same]

    def _forget(self, meter: Meter) -> None:
        self._meters.pop(meter.token, None)

    async def _serve(self, listener: socket.socket) -> None:
        server = _Server(
            uvicorn.Config(
                self._app,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        task = asyncio.create_task(server.serve([listener]))
        self._servers.append((server, task))
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            ready.cancel()
            task.result()


class _Server(uvicorn.Server):
    """A uvicorn server that says when it listens, and leaves the process's signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _CutConnections(logging.Filter):
    """Keeps quiet about answers left without an end: that is how a broken upstream is passed on."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg != "ASGI callable returned without completing response."


def _unix_socket(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise InputError(
            f"is longer than {LONGEST_SOCKET_PATH} bytes, which no unix socket may be",
            file=path,
            remedy="Choose a shorter directory",
        )
    listener = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket() and not _answers(path):
            path.unlink()
        listener.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot be listened on ({error.strerror})",
            file=path,
            remedy="Choose another socket path, or end the gateway that uses it",
        ) from None
    return listener


def _tcp_socket(host: str, port: int) -> socket.socket:
    try:
        [(family, *_), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return socket.create_server((host, port), family=family)
    except OSError as error:
        about_the_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        raise InputError(
            f"{host}:{port} cannot be listened on ({error.strerror})",
            field="--port" if about_the_port else "--host",
            remedy="Choose another port, or 0 for a free one"
            if about_the_port
            else "Give an address of this machine, such as 127.0.0.1",
        ) from None


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
