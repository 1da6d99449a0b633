"""The page, and what its button sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

HOSTS = ("doorbell.example",)
PAGE = Path(__file__).parent / "page.html"


def build(rings: list[dict[str, Any]]) -> Starlette:
    """A door; rings that arrive are appended to `rings`."""

    async def ring(request: Request) -> Response:
        rings.append(await request.json())
        return JSONResponse({"rung": True}, 201)

    return Starlette(routes=[Route("/", _page), Route("/api/rings", ring, methods=["POST"])])


async def _page(_request: Request) -> Response:
    return FileResponse(PAGE, media_type="text/html")
