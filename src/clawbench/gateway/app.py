"""The gateway's doors: who may come in, and where to."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from clawbench.gateway.meter import BudgetSpentError, Meter
from clawbench.gateway.relay import serve
from clawbench.gateway.wire import LARGEST_BODY, HungUpError, TooLargeError, Wire, headers_of, read_body

log = logging.getLogger("clawbench.gateway")

FindMeter = Callable[[str], Meter | None]


def build_app(find: FindMeter) -> Starlette:
    """The ASGI application; `find` gives the open run of a token."""
    chat, models = ChatCompletions(find), Models(find)
    routes = [
        Route(prefix + path, door, methods=methods)
        for prefix in ("/v1", "")
        for path, door, methods in (
            ("/chat/completions", chat, ["POST"]),
            ("/models", models, ["GET"]),
            ("/models/{name:path}", models, ["GET"]),
        )
    ]
    refusals = {404: _refuse_unknown(find), 405: _refuse_unknown(find)}
    app = Starlette(routes=routes, exception_handlers=refusals)
    app.router.redirect_slashes = False
    return app


class ChatCompletions:
    """POST /v1/chat/completions"""

    def __init__(self, find: FindMeter) -> None:
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wire = Wire(send)
        meter = self._find(token_of(scope))
        if meter is None:
            await _unauthorized(wire)
            return
        try:
            body = await read_body(scope, receive)
            if meter.closed:
                await _unauthorized(wire)
                return
            call = meter.begin("/chat/completions", parse_object(body))
        except HungUpError:
            return
        except TooLargeError:
            meter.refuse(scope["path"], 413, "request body too large")
            await wire.error(
                413, f"The request body is over {LARGEST_BODY // 2**20} MB.", "request_too_large"
            )
        except ValueError as error:
            meter.refuse(scope["path"], 400, str(error))
            await wire.error(400, str(error), "invalid_json")
        except BudgetSpentError as error:
            await wire.error(402, f"The run's budget is spent: {error}.", "budget_exceeded")
        else:
            await serve(meter, call, headers_of(scope), wire, receive)


class Models:
    """GET /v1/models: the one model that this run may use."""

    def __init__(self, find: FindMeter) -> None:
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wire = Wire(send)
        meter = self._find(token_of(scope))
        if meter is None:
            await _unauthorized(wire)
            return
        entry = {"id": meter.model.name, "object": "model", "created": 0, "owned_by": "clawbench"}
        wanted = scope["path_params"].get("name")
        if wanted is None:
            await wire.json(200, {"object": "list", "data": [entry]})
        elif wanted == meter.model.name:
            await wire.json(200, entry)
        else:
            await wire.error(404, f"This run has no model {wanted!r}.", "model_not_found")


def token_of(scope: Scope) -> str:
    """The run's token, as the client libraries of the various APIs send it."""
    headers = {name.lower(): value for name, value in headers_of(scope)}
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer:
        return bearer.strip()
    return headers.get("x-api-key") or headers.get("api-key") or ""


def parse_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("The request body is not JSON.") from None
    if not isinstance(value, dict):
        raise ValueError("The request body is not a JSON object.")
    return value


async def _unauthorized(wire: Wire) -> None:
    await wire.error(
        401, "This token opens no run: it is missing, wrong, or its run has ended.", "invalid_api_key"
    )


def _refuse_unknown(find: FindMeter) -> Callable[[Request, Exception], JSONResponse]:
    def refuse(request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 404
        what = f"{request.method} {request.url.path} is not served by this gateway."
        if meter := find(token_of(request.scope)):
            meter.refuse(request.url.path, status, what)
        log.info("refused: %s", what)
        problem = {"message": what, "type": "invalid_request_error", "param": None, "code": "unknown_url"}
        return JSONResponse({"error": problem}, status)

    return refuse
