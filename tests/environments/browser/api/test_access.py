"""Who may speak to the recorder, and who may not."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest

from clawbench.environments.browser.vnc.server import listen

pytestmark = pytest.mark.anyio

EXTENSION = "chrome-extension://cpnjheigapaihnoebpkkbifphlahkldi"
ROUTES = [
    ("GET", "/api/status"),
    ("GET", "/api/live"),
    *[("POST", f"/api/{name}") for name in ("action", "screenshot", "request", "ready", "stop")],
    ("POST", "/api/stop-recording"),
]


async def test_nothing_is_answered_without_the_token(recorder: Any, click: dict[str, Any]) -> None:
    async with recorder() as recorded, httpx.AsyncClient(base_url=recorded.api.url) as stranger:
        tries = ({}, {"Authorization": "Bearer wrong"}, {"Authorization": recorded.api.token})
        for method, path in ROUTES:
            for headers in tries:
                answer = await stranger.request(method, path, headers=headers, json=click)
                assert answer.status_code == 401, path
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                assert "token" in answer.json()["error"]
        assert recorded.written() == []


async def test_only_extensions_and_programs_may_speak_never_pages(recorder: Any) -> None:
    async with recorder() as recorded:
        for origin in ("https://shop.example", "http://127.0.0.1:7878", "null", "chrome-extension.example"):
            answer = await recorded.client.get("/api/status", headers={"Origin": origin})
            assert answer.status_code == 403, origin
            assert "pages" in answer.json()["error"]
        allowed = await recorded.client.get("/api/status", headers={"Origin": EXTENSION})
        assert allowed.status_code == 200
        preflight = await recorded.client.options("/api/action", headers={"Origin": "https://shop.example"})
        assert not [name for name in preflight.headers if name.lower().startswith("access-control")]


async def test_a_foreign_name_that_points_here_is_refused(recorder: Any) -> None:
    async with recorder() as recorded:
        port = recorded.api.url.rpartition(":")[2]
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "", "[::1]"):
            answer = await recorded.client.get("/api/status", headers={"Host": host})
            assert answer.status_code in (400, 403), host
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost"):
            assert (await recorded.client.get("/api/status", headers={"Host": host})).status_code == 200
        assert (await recorded.client.get("/pair", headers={"Host": "evil.example"})).status_code == 403


async def test_the_pairing_page_needs_no_token_and_holds_none(recorder: Any) -> None:
    async with recorder() as recorded, httpx.AsyncClient(base_url=recorded.api.url) as stranger:
        page = await stranger.get("/pair")
        assert page.status_code == 200
        assert recorded.api.token not in page.text
        assert recorded.api.pairing_url == f"{recorded.api.url}/pair#{recorded.api.token}"
        assert recorded.api.token not in repr(recorded.api)


async def test_it_listens_on_loopback_and_a_taken_port_moves(recorder: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with recorder(port=port) as recorded:
            assert recorded.api.url.startswith("http://127.0.0.1:")
            assert not recorded.api.url.endswith(f":{port}")
            assert (await recorded.client.get("/api/status")).status_code == 200


async def test_answers_are_not_held_back_by_the_network() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_what_is_not_served_is_said_in_json(recorder: Any) -> None:
    async with recorder() as recorded:
        assert (await recorded.client.get("/api/nothing")).json() == {"error": "Not Found"}
        answer = await recorded.client.get("/api/action")
        assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})
