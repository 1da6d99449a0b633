"""The pages of a live view: the task, the screen, the person's files, what is going on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from clawbench.environments.browser.vnc.access import Access
from clawbench.environments.browser.vnc.board import Board
from clawbench.environments.browser.vnc.bridge import join
from clawbench.environments.browser.vnc.guard import Guard
from clawbench.environments.browser.vnc.presence import Presence
from clawbench.environments.browser.vnc.subject import Subject
from clawbench.environments.browser.vnc.windows import Windows

PAGE = Path(__file__).parent / "page"
SUPERSEDED = 4001
SCREEN_ENDED = 4002
"""Why a screen was taken away, as the page understands it."""


class ViewApp:
    """What one view serves, over the things its run shares with it."""

    def __init__(
        self, subject: Subject, board: Board, presence: Presence, screen: Path, windows: Windows | None
    ) -> None:
        self._subject, self._board, self._presence, self._screen = subject, board, presence, screen
        self._windows = windows
        self._connections = 0

    def build(self, access: Access, novnc: Path) -> Starlette:
        return Starlette(
            routes=[
                Route("/", _file("view.html")),
                Route("/view.css", _file("view.css")),
                Route("/view.js", _file("view.js")),
                Route("/details.js", _file("details.js")),
                Route("/task", self._task),
                Route("/files/{name}", self._handout),
                Route("/events", self._events),
                Route("/windows/{target}/{verb}", self._arrange, methods=["POST"]),
                WebSocketRoute("/screen", self._show),
                Mount("/novnc/core", StaticFiles(directory=novnc / "core", follow_symlink=True)),
                Mount("/novnc/vendor", StaticFiles(directory=novnc / "vendor", follow_symlink=True)),
            ],
            middleware=[Middleware(Guard, access=access)],
        )

    async def _task(self, _request: Request) -> Response:
        return JSONResponse(self._subject.as_json())

    async def _handout(self, request: Request) -> Response:
        path = self._subject.file(request.path_params["name"])
        if path is None:
            return PlainTextResponse("no such file", 404)
        return FileResponse(path, filename=path.name, content_disposition_type="attachment")

    async def _events(self, _request: Request) -> Response:
        async def lines() -> AsyncIterator[str]:
            async for state in self._board.follow():
                yield f"data: {state}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def _arrange(self, request: Request) -> Response:
        target, verb = request.path_params["target"], request.path_params["verb"]
        if self._windows is None or verb not in ("raise", "close"):
            return PlainTextResponse("not here", 404)
        await (self._windows.raise_window if verb == "raise" else self._windows.close_window)(target)
        return Response(status_code=204)

    async def _show(self, websocket: WebSocket) -> None:
        """The newest connection has the screen: the session shows it to one at a time."""
        await websocket.accept()
        self._connections += 1
        number = self._connections
        with self._presence.visit(), suppress(OSError):  # where the session has ended
            await join(websocket, self._screen)
        with suppress(WebSocketDisconnect, RuntimeError):  # where the browser went first
            await websocket.close(SCREEN_ENDED if number == self._connections else SUPERSEDED)


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return FileResponse(PAGE / name)

    return answer
