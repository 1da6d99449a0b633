"""Between every harness and every model: counts, prices, limits, records, replays; plays scripts."""

from clawbench.gateway.budget import BatchBudget, Budget
from clawbench.gateway.meter import Meter
from clawbench.gateway.prices import PriceList, find_price
from clawbench.gateway.probe import probe_model
from clawbench.gateway.replay import RecordedCall, RecordedUpstream, ReplayPlan, read_record
from clawbench.gateway.scripted import Policy, load_policy
from clawbench.gateway.server import Gateway
from clawbench.gateway.standalone import Session, is_loopback, metering

__all__ = [
    "BatchBudget",
    "Budget",
    "Gateway",
    "Meter",
    "Policy",
    "PriceList",
    "RecordedCall",
    "RecordedUpstream",
    "ReplayPlan",
    "Session",
    "find_price",
    "is_loopback",
    "load_policy",
    "metering",
    "probe_model",
    "read_record",
]
