"""Between every harness and every model: counts, prices, limits, records; plays scripted models."""

from clawbench.gateway.budget import BatchBudget, Budget
from clawbench.gateway.meter import Meter
from clawbench.gateway.prices import PriceList, find_price
from clawbench.gateway.probe import probe_model
from clawbench.gateway.scripted import Policy, load_policy
from clawbench.gateway.server import Gateway

__all__ = [
    "BatchBudget",
    "Budget",
    "Gateway",
    "Meter",
    "Policy",
    "PriceList",
    "find_price",
    "load_policy",
    "probe_model",
]
