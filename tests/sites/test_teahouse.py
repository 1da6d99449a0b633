"""The bundled shop over its unix socket."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawbench.errors import InputError
from clawbench.sites import Site, serve_site, site_names

pytestmark = pytest.mark.anyio

ORDER: dict[str, Any] = {
    "items": [{"product": "sencha", "size": "50g", "style": "loose", "quantity": 2}],
    "customer": {"name": "Alex Green", "email": "alex@mail.example", "phone": "+1 217 555 0148"},
    "address": {
        "street": "742 Maple Avenue, Apt 3B", "city": "Springfield", "state": "IL", "zip": "62704",
        "country": "United States",
    },
    "delivery": {"method": "express", "date": "2026-11-14"},
    "gift": {"wrap": True, "note": ""},
    "newsletter": False,
    "terms": True,
    "total": 37.4,
}  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def shop(tmp_path: Path, name: str = "site.sock") -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    transport = httpx.AsyncHTTPTransport(uds=str(tmp_path / name))
    async with (
        serve_site("teahouse", tmp_path / name) as site,
        httpx.AsyncClient(transport=transport, base_url=site.start_url) as client,
    ):
        yield site, client


def test_sites_are_known_by_name() -> None:
    assert site_names() == ["doorbell", "teahouse"]


async def test_an_unknown_site_is_refused_with_the_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Known sites: doorbell, teahouse"):
        async with serve_site("nope", tmp_path / "s"):
            pass


async def test_it_answers_at_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with shop(tmp_path) as (site, client):
        assert site.hosts[0] == "teahouse.example"
        assert site.start_url == "http://teahouse.example/"
        page = await client.get("/")
        assert page.status_code == 200
        assert "Lantern &amp; Leaf" in page.text
    assert list(tmp_path.iterdir()) == []


async def test_every_page_asset_and_picture_is_bundled(tmp_path: Path) -> None:
    async with shop(tmp_path) as (_, client):
        products = (await client.get("/api/products")).json()
        assert len(products) == 12
        paths = ["/", "/basket", "/checkout", "/about", "/orders/LL-1"]
        paths += [f"/products/{product['slug']}" for product in products]
        found: set[str] = set()
        for path in paths:
            page = await client.get(path)
            assert page.status_code == 200
            found |= set(re.findall(r'(?:src|href)="([^"#]+)"', page.text))
        found |= {f"/tins/{product['slug']}.svg" for product in products}
        for reference in found:
            assert reference.startswith("/"), f"{reference} is not on this site"
            assert (await client.get(reference)).status_code == 200, reference
        files = Path(__file__).parents[2] / "src/clawbench/sites/teahouse/files"
        for file in files.iterdir():
            outside = re.findall(r"https?://(?!www\.w3\.org/2000/svg)", file.read_text())
            assert not outside, f"{file.name} refers to another site"
        for missing in (
            "/nope",
            "/products/nope",
            "/assets/layout.html",
            "/assets/../app.py",
            "/tins/nope.svg",
        ):
            assert (await client.get(missing)).status_code == 404, missing


async def test_baskets_belong_to_visitors(tmp_path: Path) -> None:
    async with shop(tmp_path) as (_, client):
        await client.get("/")
        line = {"product": "sencha", "size": "100g", "style": "bags", "quantity": 2}
        await client.post("/api/basket", json=line)
        basket = (await client.post("/api/basket", json=line)).json()
        assert (basket["count"], basket["subtotal"]) == (4, 94.8)
        for quantity in (0, 21, "2", None):
            assert (await client.post("/api/basket", json={**line, "quantity": quantity})).status_code == 422
        changed = await client.patch("/api/basket/0", json={"quantity": 1})
        assert changed.json()["subtotal"] == 23.7
        assert (await client.patch("/api/basket/0", json={"quantity": 0})).json()["lines"] == []
        assert (await client.patch("/api/basket/0", json={"quantity": 1})).status_code == 422
        client.cookies.clear()
        assert (await client.get("/api/basket")).json()["count"] == 0


async def test_orders_arrive_in_this_instance_only(tmp_path: Path) -> None:
    async with shop(tmp_path, "one") as (one, client), shop(tmp_path, "two") as (two, _):
        answer = await client.post("/api/orders", json=ORDER)
        assert answer.status_code == 201
        assert one.orders == [{**ORDER, "number": answer.json()["number"]}]
        assert two.orders == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"items": []}, "basket is empty"),
        ({"terms": False}, "accept our terms"),
        ({"total": 1}, "Prices have changed"),
        ({"delivery": {"method": "express", "date": "2026-11-15"}}, "cannot deliver on that day"),
        ({"customer": {**ORDER["customer"], "phone": ""}}, "complete your customer"),
    ],
)
async def test_orders_that_cannot_be_are_refused(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    async with shop(tmp_path) as (site, client):
        answer = await client.post("/api/orders", json={**ORDER, **change})
        assert answer.status_code == 422
        assert complaint in answer.json()["error"]
        assert site.orders == []


async def test_the_calendar_stands_still(tmp_path: Path) -> None:
    async with shop(tmp_path) as (_, client):
        methods = {m["id"]: m for m in (await client.get("/api/delivery")).json()["methods"]}
    labels = {day["value"]: day["label"] for day in methods["express"]["dates"]}
    assert labels["2026-11-14"] == "Saturday, 14 November 2026"
    assert all(date.fromisoformat(day["value"]).weekday() < 5 for day in methods["standard"]["dates"])


def test_the_scripts_are_valid() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    import subprocess

    files = Path(__file__).parents[2] / "src/clawbench/sites/teahouse/files"
    for script in files.glob("*.js"):
        subprocess.run(
            [node, "--input-type=module", "--check"],
            input=script.read_bytes(),
            check=True,
            capture_output=True,
        )
