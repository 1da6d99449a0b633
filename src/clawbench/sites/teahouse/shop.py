"""The shop's state: one basket per visitor, and the orders that arrived."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from clawbench.sites.teahouse.catalogue import DELIVERIES, GIFT_WRAP, PRODUCTS, SIZES, STYLES

MOST_PER_LINE = 20
REQUIRED = {
    "customer": ("name", "email", "phone"),
    "address": ("street", "city", "state", "zip", "country"),
    "delivery": ("method", "date"),
}


class Refused(Exception):
    """Something the shop cannot do; shown to the visitor."""


@dataclass
class Line:
    product: str
    size: str
    style: str
    quantity: int

    @property
    def unit_price(self) -> Decimal:
        return PRODUCTS[self.product].unit_price(self.size, self.style)

    def shown(self) -> dict[str, Any]:
        return {
            "product": self.product,
            "name": PRODUCTS[self.product].name,
            "size": self.size,
            "style": self.style,
            "styleName": STYLES[self.style],
            "quantity": self.quantity,
            "unitPrice": float(self.unit_price),
            "price": float(self.unit_price * self.quantity),
        }


@dataclass
class Basket:
    lines: list[Line] = field(default_factory=list)

    def add(self, wanted: dict[str, Any]) -> None:
        line = _line(wanted)
        for present in self.lines:
            if (present.product, present.size, present.style) == (line.product, line.size, line.style):
                present.quantity = min(MOST_PER_LINE, present.quantity + line.quantity)
                return
        self.lines.append(line)

    def change(self, index: int, quantity: int) -> None:
        if not 0 <= index < len(self.lines) or not 0 <= quantity <= MOST_PER_LINE:
            raise Refused("There is no such line in your basket.")
        if quantity == 0:
            del self.lines[index]
        else:
            self.lines[index].quantity = quantity

    def shown(self) -> dict[str, Any]:
        subtotal = sum((line.unit_price * line.quantity for line in self.lines), Decimal(0))
        return {
            "lines": [line.shown() for line in self.lines],
            "count": sum(line.quantity for line in self.lines),
            "subtotal": float(subtotal),
        }


@dataclass
class Shop:
    orders: list[dict[str, Any]]
    baskets: dict[str, Basket] = field(default_factory=dict)

    def basket(self, visitor: str) -> Basket:
        return self.baskets.setdefault(visitor, Basket())

    def order(self, visitor: str, order: dict[str, Any]) -> str:
        """Take the order, empty the basket, return its number."""
        _check_order(order)
        number = f"LL-{len(self.orders) + 20431}"
        self.orders.append({**order, "number": number})
        self.baskets.pop(visitor, None)
        return number

    @staticmethod
    def new_visitor() -> str:
        return secrets.token_urlsafe(12)


def _line(wanted: dict[str, Any]) -> Line:
    product, size, style = wanted.get("product"), wanted.get("size"), wanted.get("style")
    quantity = wanted.get("quantity")
    if product not in PRODUCTS or size not in SIZES or style not in STYLES:
        raise Refused("Please choose a size and a style.")
    if not isinstance(quantity, int) or not 1 <= quantity <= MOST_PER_LINE:
        raise Refused(f"Please choose a quantity from 1 to {MOST_PER_LINE}.")
    return Line(str(product), str(size), str(style), quantity)


def _check_order(order: dict[str, Any]) -> None:
    items = order.get("items")
    if not isinstance(items, list) or not items:
        raise Refused("Your basket is empty.")
    lines = [_line(item) for item in items]
    for section, names in REQUIRED.items():
        values = order.get(section)
        if not isinstance(values, dict) or not all(values.get(name) for name in names):
            raise Refused(f"Please complete your {section}.")
    delivery = DELIVERIES.get(order["delivery"]["method"])
    if delivery is None or order["delivery"]["date"] not in [day["value"] for day in delivery.dates()]:
        raise Refused("We cannot deliver on that day.")
    if order.get("terms") is not True:
        raise Refused("Please accept our terms.")
    goods = sum((line.unit_price * line.quantity for line in lines), Decimal(delivery.price))
    gift = order.get("gift") or {}
    total = goods + (GIFT_WRAP if gift.get("wrap") else 0)
    if order.get("total") != float(total):
        raise Refused("Prices have changed; please look at your basket again.")
