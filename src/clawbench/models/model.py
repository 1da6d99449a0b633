"""One entry of models.yaml."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from clawbench.results import Price

SCRIPTED = "scripted:"
"""A base_url that starts so names a policy file: no model takes part."""


_SECRET_PARAMETERS = ("key", "token", "secret", "password", "sig")


class ApiType(StrEnum):
    OPENAI_COMPLETIONS = "openai-completions"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC_MESSAGES = "anthropic-messages"
    GOOGLE = "google-generative-ai"


class ThinkingLevel(StrEnum):
    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


class Model(BaseModel):
    """A model behind an API."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    base_url: str
    api_type: ApiType
    model: str | None = None
    """The provider's name for it, where it differs from `name`."""
    api_keys: tuple[SecretStr, ...] = Field(default=(), repr=False)
    thinking_level: ThinkingLevel | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
    price: Price | None = None

    @field_validator("thinking_level", mode="before")
    @classmethod
    def _off_is_a_level(cls, level: object) -> object:
        # YAML reads a bare `off` as false.
        return ThinkingLevel.OFF if level is False else level

    @field_validator("name", "base_url", "model")
    @classmethod
    def _is_unicode(cls, text: str | None) -> str | None:
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            raise ValueError("is not Unicode: it holds half of a surrogate pair") from None
        return text

    @field_validator("base_url")
    @classmethod
    def _holds_no_secret(cls, url: str) -> str:
        parts = urlsplit(url if "//" in url or url.startswith(SCRIPTED) else f"//{url}")
        names = [name.lower() for name, _ in parse_qsl(parts.query)]
        if "@" in parts.netloc or any(name.endswith(_SECRET_PARAMETERS) for name in names):
            raise ValueError("holds a key, user or password, which every record shows; write it as api_key")
        return url

    @property
    def upstream_name(self) -> str:
        return self.model or self.name

    @property
    def scripted(self) -> bool:
        return self.base_url.startswith(SCRIPTED)

    @property
    def policy(self) -> Path:
        """The policy file of a scripted model."""
        return Path(self.base_url.removeprefix(SCRIPTED))

    def settings(self) -> dict[str, Any]:
        """What the record may show: everything but the keys; a policy by its name and content."""
        shown = self.model_dump(mode="json", exclude={"api_keys"}, exclude_none=True)
        if self.scripted:
            shown["base_url"] = SCRIPTED + self.policy.name
            if self.policy.is_file():
                shown["policy_hash"] = hashlib.sha256(self.policy.read_bytes()).hexdigest()
        return shown

    def content_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()
