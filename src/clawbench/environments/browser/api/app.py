"""The recorder HTTP API: bodies are checked whole before anything is written, and every refusal says why."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clawbench.environments.browser.api.guard import Guard, Refusal
from clawbench.environments.browser.api.messages import (
    Message,
    NewAction,
    NewScreenshot,
    Readiness,
    SentRequest,
    StopWish,
)
from clawbench.environments.browser.api.picture import check_png
from clawbench.environments.browser.api.recording import ExtensionRecording, Recording

PAIR = "/pair"
PAIR_PAGE = Path(__file__).with_name("pair.html")
SMALL = 256 * 1024
LARGE = 64 << 20
"""Bytes of a body: of ordinary messages, and of pictures and requests."""

M = TypeVar("M", bound=Message)
Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(recording: Recording, token: str) -> Starlette:
    """The API over a session's recorder."""
    return _application(_Common(recording).routes(), token, ())


def build_extension_app(recording: ExtensionRecording, token: str) -> Starlette:
    """The API over a person's own browser: what the extension needs comes on top."""
    return _application([*_Common(recording).routes(), *_ForExtension(recording).routes()], token, (PAIR,))


class _Common:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def routes(self) -> list[Route]:
        return [
            Route("/api/status", self._status, methods=["GET"]),
            Route("/api/action", self._kept(self._action), methods=["POST"]),
            Route("/api/screenshot", self._kept(self._screenshot), methods=["POST"]),
            Route("/api/stop", self._stop, methods=["POST"]),
            Route("/api/stop-recording", self._kept(self._stop_recording), methods=["POST"]),
        ]

    def _kept(self, endpoint: Endpoint) -> Endpoint:
        return _kept(self._recording, endpoint)

    async def _status(self, _request: Request) -> Response:
        return JSONResponse(self._recording.status().model_dump())

    async def _action(self, request: Request) -> Response:
        action = await _message(request, NewAction, SMALL)
        return JSONResponse({"screenshot": self._recording.add_action(action)}, 201)

    async def _screenshot(self, request: Request) -> Response:
        screenshot = await _message(request, NewScreenshot, LARGE)
        if screenshot.timestamp is None:
            screenshot.timestamp = time.time() * 1000
        png = base64.b64decode(screenshot.png)
        try:
            await asyncio.to_thread(check_png, png)
        except ValueError as error:
            raise Refusal(422, f"png: {error}") from None
        return JSONResponse({"names": self._recording.add_screenshot(screenshot, png)}, 201)

    async def _stop(self, request: Request) -> Response:
        wish = await _message(request, StopWish, SMALL)
        self._recording.stop(wish.description)
        return JSONResponse({"stopping": True}, 202)

    async def _stop_recording(self, request: Request) -> Response:
        await _message(request, Message, SMALL)
        await self._recording.stop_recording()
        return JSONResponse({"recording": False})


class _ForExtension:
    def __init__(self, recording: ExtensionRecording) -> None:
        self._recording = recording

    def routes(self) -> list[Route]:
        return [
            Route(PAIR, self._pair, methods=["GET"]),
            Route("/api/request", _kept(self._recording, self._request), methods=["POST"]),
            Route("/api/ready", self._ready, methods=["POST"]),
            Route("/api/live", self._live, methods=["GET"]),
        ]

    async def _pair(self, _request: Request) -> Response:
        return HTMLResponse(PAIR_PAGE.read_text(encoding="utf-8"))

    async def _request(self, request: Request) -> Response:
        sent = await _message(request, SentRequest, LARGE)
        return JSONResponse({"decision": await self._recording.add_request(sent)}, 201)

    async def _ready(self, request: Request) -> Response:
        self._recording.arm(await _message(request, Readiness, SMALL))
        return JSONResponse({"recording": True})

    async def _live(self, _request: Request) -> Response:
        return StreamingResponse(self._recording.live(), media_type="application/jsonl")


def _kept(recording: Recording, endpoint: Endpoint) -> Endpoint:
    """What cannot be written is noted in the record, and said to the one who sent it."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except OSError as error:
            recording.report(f"{error.filename or 'the record'}: {error.strerror}")
            raise Refusal(507, f"this could not be written ({error.strerror})") from None

    return guarded


async def _message(request: Request, kind: type[M], limit: int) -> M:
    """The body, checked against what it should be."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "send JSON, with `Content-Type: application/json`")
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > limit:
                raise Refusal(413, f"a body here may have {limit} bytes")
    except ClientDisconnect:
        raise Refusal(400, "the body did not arrive") from None
    try:
        return kind.model_validate_json(bytes(body) or b"{}")
    except ValidationError as error:
        raise Refusal(422, _problems(error)) from None


def _problems(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in problems[:5])


def _application(routes: list[Route], token: str, open_paths: tuple[str, ...]) -> Starlette:
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token, open_paths=open_paths)],
        exception_handlers={Refusal: _refuse, HTTPException: _not_served},
    )


async def _refuse(_request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return refusal.answer()


async def _not_served(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
