"""The gateway's doors: who may come in, and where to."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.types import Receive, Scope, Send

from clawbench.gateway.dialects import DIALECTS, Dialect, Operation
from clawbench.gateway.doors import Catalogue, Door, find_door, spoken_by
from clawbench.gateway.meter import BudgetSpentError, Meter
from clawbench.gateway.relay import serve
from clawbench.gateway.wire import LARGEST_BODY, HungUpError, TooLargeError, Wire, headers_of, read_body

log = logging.getLogger("clawbench.gateway")

FindMeter = Callable[[str], Meter | None]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
_TOKEN_HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
_TOKEN_PARAMETER = "key"


def build_app(find: FindMeter) -> App:
    """The ASGI application; `find` gives the open run of a token."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        meter = next((meter for token in tokens_of(scope) if (meter := find(token))), None)
        door = find_door(scope["method"], scope["path"])
        wire = Wire(send, _dialect_for(scope, door, meter))
        if isinstance(door, Door) and meter is not None:
            await _ask(door, meter, wire, scope, receive)
        elif door is None:
            await _refuse_unknown(meter, wire, scope)
        elif meter is None:
            await _unauthorized(wire)
        elif isinstance(door, Catalogue):
            await _list_models(door, meter, wire)

    return app


async def _ask(door: Door, meter: Meter, wire: Wire, scope: Scope, receive: Receive) -> None:
    try:
        body = await read_body(scope, receive)
        if meter.closed:
            await _unauthorized(wire)
            return
        if door.dialect.api_type is not meter.model.api_type:
            await _refuse_foreign(door, meter, wire, scope["path"])
            return
        request = parse_object(body)
        if objection := door.dialect.objection(request):
            meter.refuse(scope["path"], 400, objection)
            await wire.error(400, objection, "unsupported")
            return
        if door.operation is Operation.GENERATE:
            await meter.room()
            if meter.closed:
                await _unauthorized(wire)
                return
        call = meter.begin(door, request, query_of(scope))
    except HungUpError:
        return
    except TooLargeError:
        meter.refuse(scope["path"], 413, "request body too large")
        await wire.error(413, f"The request body is over {LARGEST_BODY // 2**20} MB.", "request_too_large")
    except ValueError as error:
        meter.refuse(scope["path"], 400, str(error))
        await wire.error(400, str(error), "invalid_json")
    except BudgetSpentError as error:
        await wire.error(402, f"The run's budget is spent: {error}.", "budget_exceeded")
    else:
        await serve(meter, call, headers_of(scope), wire, receive)


async def _list_models(catalogue: Catalogue, meter: Meter, wire: Wire) -> None:
    """The one model that this run may use."""
    dialect, name, wanted = DIALECTS[meter.model.api_type], meter.model.name, catalogue.name
    if wanted is None:
        await wire.json(200, dialect.model_list(name))
    elif wanted == name:
        await wire.json(200, dialect.model_entry(name))
    else:
        await wire.error(404, f"This run has no model {wanted!r}.", "model_not_found")


def tokens_of(scope: Scope) -> Iterator[str]:
    """What may be the run's token, as the client libraries of the various APIs send it."""
    headers = {name.lower(): value for name, value in headers_of(scope)}
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer:
        yield bearer.strip()
    for name in _TOKEN_HEADERS:
        if headers.get(name):
            yield headers[name]
    for name, value in parse_qsl(scope.get("query_string", b"").decode("latin-1")):
        if name == _TOKEN_PARAMETER:
            yield value


def query_of(scope: Scope) -> str:
    """The query without the token."""
    given = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return urlencode([(name, value) for name, value in given if name != _TOKEN_PARAMETER])


def parse_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("The request body is not JSON.") from None
    if not isinstance(value, dict):
        raise ValueError("The request body is not a JSON object.")
    return value


def _dialect_for(scope: Scope, door: Door | Catalogue | None, meter: Meter | None) -> Dialect:
    """In whose shape errors are written: as the path says, else as the run's model speaks."""
    if isinstance(door, Door):
        return door.dialect
    if meter is not None:
        return DIALECTS[meter.model.api_type]
    return spoken_by(scope["path"], {name.lower(): value for name, value in headers_of(scope)})


async def _unauthorized(wire: Wire) -> None:
    await wire.error(
        401, "This token opens no run: it is missing, wrong, or its run has ended.", "invalid_api_key"
    )


async def _refuse_foreign(door: Door, meter: Meter, wire: Wire, path: str) -> None:
    what = (
        f"This run's model speaks {meter.model.api_type.value}, not {door.dialect.api_type.value}: "
        "configure the harness for that API, or use an endpoint of the model that speaks this one."
    )
    meter.refuse(path, 400, what)
    await wire.error(400, what, "wrong_api_type")


async def _refuse_unknown(meter: Meter | None, wire: Wire, scope: Scope) -> None:
    what = f"{scope['method']} {scope['path']} is not served by this gateway."
    known = any(find_door(method, scope["path"]) for method in ("GET", "POST"))
    status = 405 if known else 404
    if meter is not None:
        meter.refuse(scope["path"], status, what)
    log.info("refused: %s", what)
    await wire.error(status, what, "unknown_url")
