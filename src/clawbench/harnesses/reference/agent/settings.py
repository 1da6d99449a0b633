"""What the agent is told: one JSON file in HOME, and the gateway in the environment."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "agent-settings.json"


@dataclass(frozen=True)
class Settings:
    kind: str
    """`web` or `coding`: which tools are offered."""
    prompt: str
    model: str
    workspace: str
    time_limit_s: float
    max_turns: int
    cdp_url: str | None = None
    request: dict[str, Any] = field(default_factory=dict)
    """Further fields of every model request, such as temperature."""


@dataclass(frozen=True)
class Gateway:
    base_url: str
    token: str = field(repr=False)


def load(home: Path) -> Settings:
    return Settings(**json.loads((home / FILE).read_text(encoding="utf-8")))


def gateway_from_environment() -> Gateway:
    """The token leaves the environment, so that no command of the agent inherits it."""
    return Gateway(os.environ["OPENAI_BASE_URL"].rstrip("/"), os.environ.pop("OPENAI_API_KEY"))
