"""What the shop sells, and how it delivers. The shop's calendar stands still, so that tasks stay true."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

TODAY = date(2026, 11, 3)
SIZES = {"50g": Decimal("1.0"), "100g": Decimal("1.85"), "250g": Decimal("4.2")}
"""Grams -> price relative to the smallest."""
STYLES = {"loose": "Loose leaf", "bags": "Pyramid bags"}
BAGS_EXTRA = Decimal("1.50")
GIFT_WRAP = Decimal("3.50")


@dataclass(frozen=True)
class Product:
    slug: str
    name: str
    kind: str
    origin: str
    tagline: str
    notes: str
    brew: str
    price: str
    """Of the smallest size, loose."""
    tin: str
    leaf: str
    badge: str = ""

    def unit_price(self, size: str, style: str) -> Decimal:
        price = Decimal(self.price) * SIZES[size] + (BAGS_EXTRA if style == "bags" else 0)
        return price.quantize(Decimal("0.01"))

    def shown(self) -> dict[str, Any]:
        prices = {
            f"{size}/{style}": float(self.unit_price(size, style)) for size in SIZES for style in STYLES
        }
        return {**asdict(self), "price": float(self.price), "prices": prices}


@dataclass(frozen=True)
class Delivery:
    id: str
    name: str
    detail: str
    price: str
    first: int
    """Days from today to the first delivery date."""
    weekdays: tuple[int, ...]

    def dates(self) -> list[dict[str, str]]:
        days = (TODAY + timedelta(days=self.first + offset) for offset in range(28))
        offered = [day for day in days if day.weekday() in self.weekdays][:9]
        return [{"value": day.isoformat(), "label": f"{day:%A}, {day.day} {day:%B %Y}"} for day in offered]


DELIVERIES = {
    delivery.id: delivery
    for delivery in (
        Delivery("standard", "Standard", "3–5 working days, by letter carrier", "4.90", 5, (0, 1, 2, 3, 4)),
        Delivery("express", "Express", "Next working days, Saturdays too", "9.90", 2, (0, 1, 2, 3, 4, 5)),
        Delivery("pickup", "Pick-up point", "Collect at a shop near you", "0", 4, (0, 2, 4)),
    )
}


def _load() -> dict[str, Product]:
    entries = json.loads(Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8"))
    return {entry["slug"]: Product(**entry) for entry in entries}


PRODUCTS = _load()
