"""Pages and API of the shop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from clawbench.sites.teahouse.catalogue import DELIVERIES, GIFT_WRAP, PRODUCTS
from clawbench.sites.teahouse.drawing import tin
from clawbench.sites.teahouse.shop import Refused, Shop

HOSTS = ("teahouse.example", "www.teahouse.example")
FILES = Path(__file__).parent / "files"
VISITOR = "visitor"
MOMENT_S = 0.12
"""What a real shop's database takes; pages load in two steps because of it."""


def build(orders: list[dict[str, Any]]) -> Starlette:
    """A shop with an empty basket for everyone; orders that arrive are appended to `orders`."""
    app = Starlette(
        routes=[
            Route("/", _page("home")),
            Route("/products/{slug}", _product_page),
            Route("/basket", _page("basket")),
            Route("/checkout", _page("checkout")),
            Route("/orders/{number}", _page("thanks")),
            Route("/about", _page("about")),
            Route("/assets/{name}", _asset),
            Route("/tins/{slug}.svg", _tin),
            Route("/favicon.ico", _favicon),
            Route("/api/products", _products),
            Route("/api/products/{slug}", _product),
            Route("/api/basket", _basket, methods=["GET"]),
            Route("/api/basket", _add_to_basket, methods=["POST"]),
            Route("/api/basket/{index:int}", _change_basket, methods=["PATCH"]),
            Route("/api/delivery", _delivery),
            Route("/api/orders", _order, methods=["POST"]),
        ],
        exception_handlers={Refused: _refused, 404: _not_found},
    )
    app.state.shop = Shop(orders)
    return app


def _render(name: str, status: int = 200) -> HTMLResponse:
    layout = (FILES / "layout.html").read_text(encoding="utf-8")
    page = (FILES / f"{name}.html").read_text(encoding="utf-8")
    return HTMLResponse(layout.replace("<!-- page -->", page).replace("{page}", name), status)


def _with_visitor(request: Request, response: Response) -> Response:
    if VISITOR not in request.cookies:
        response.set_cookie(VISITOR, Shop.new_visitor(), httponly=True, samesite="lax")
    return response


def _page(name: str) -> Any:
    async def page(request: Request) -> Response:
        return _with_visitor(request, _render(name))

    return page


async def _product_page(request: Request) -> Response:
    if request.path_params["slug"] not in PRODUCTS:
        return _render("missing", 404)
    return _with_visitor(request, _render("product"))


async def _not_found(_request: Request, _error: Exception) -> Response:
    return _render("missing", 404)


async def _refused(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def _asset(request: Request) -> Response:
    file = FILES / request.path_params["name"]
    if file.suffix not in (".css", ".js") or not file.is_file():
        return _render("missing", 404)
    return FileResponse(file, headers={"Cache-Control": "max-age=3600"})


async def _tin(request: Request) -> Response:
    product = PRODUCTS.get(request.path_params["slug"])
    if product is None:
        return _render("missing", 404)
    return Response(tin(product), media_type="image/svg+xml", headers={"Cache-Control": "max-age=3600"})


async def _favicon(_request: Request) -> Response:
    return FileResponse(FILES / "leaf.svg", media_type="image/svg+xml")


async def _products(_request: Request) -> Response:
    await asyncio.sleep(MOMENT_S)
    return JSONResponse([product.shown() for product in PRODUCTS.values()])


async def _product(request: Request) -> Response:
    await asyncio.sleep(MOMENT_S)
    product = PRODUCTS.get(request.path_params["slug"])
    return JSONResponse(product.shown() if product else {"error": "unknown"}, 200 if product else 404)


async def _basket(request: Request) -> Response:
    return JSONResponse(_shop(request).basket(_visitor(request)).shown())


async def _add_to_basket(request: Request) -> Response:
    basket = _shop(request).basket(_visitor(request))
    basket.add(await _sent(request))
    await asyncio.sleep(MOMENT_S)
    return JSONResponse(basket.shown())


async def _change_basket(request: Request) -> Response:
    basket = _shop(request).basket(_visitor(request))
    quantity = (await _sent(request)).get("quantity")
    basket.change(request.path_params["index"], quantity if isinstance(quantity, int) else -1)
    return JSONResponse(basket.shown())


async def _delivery(_request: Request) -> Response:
    await asyncio.sleep(MOMENT_S)
    methods = [
        {"id": d.id, "name": d.name, "detail": d.detail, "price": float(d.price), "dates": d.dates()}
        for d in DELIVERIES.values()
    ]
    return JSONResponse({"methods": methods, "giftWrap": float(GIFT_WRAP)})


async def _order(request: Request) -> Response:
    order = await _sent(request)
    await asyncio.sleep(MOMENT_S)
    return JSONResponse({"number": _shop(request).order(_visitor(request), order)}, 201)


def _shop(request: Request) -> Shop:
    shop: Shop = request.app.state.shop
    return shop


def _visitor(request: Request) -> str:
    return request.cookies.get(VISITOR, "")


async def _sent(request: Request) -> dict[str, Any]:
    try:
        value = await request.json()
    except ValueError:
        raise Refused("That was not JSON.") from None
    if not isinstance(value, dict):
        raise Refused("That was not a JSON object.")
    return value
