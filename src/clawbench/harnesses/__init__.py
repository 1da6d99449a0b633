"""Harnesses: the adapter protocol, the registry, and one module per agent program."""

from clawbench.harnesses.protocol import (
    CDP,
    CDP_PORT,
    GATEWAY,
    GATEWAY_PORT,
    Agent,
    AgentResult,
    Harness,
    RunContext,
    Services,
)
from clawbench.harnesses.registry import asks_model, get_harness, harness_names, installed_hash

__all__ = [
    "CDP",
    "CDP_PORT",
    "GATEWAY",
    "GATEWAY_PORT",
    "Agent",
    "AgentResult",
    "Harness",
    "RunContext",
    "Services",
    "asks_model",
    "get_harness",
    "harness_names",
    "installed_hash",
]
