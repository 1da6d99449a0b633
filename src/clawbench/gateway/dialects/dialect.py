"""What the gateway must know about one provider's API. Pure: no dialect reads or sends anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from clawbench.gateway.dialects.json_values import error_text, parse
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.models import ApiType, Model


class Operation(StrEnum):
    GENERATE = "generate"
    COUNT_TOKENS = "count_tokens"
    """Costs nothing and says nothing: passed on and written down, but no model call of the run."""


class Dialect(ABC):
    """One provider's API: addresses, headers, requests, answers and errors."""

    api_type: ClassVar[ApiType]
    version: ClassVar[str] = ""
    """Set between a base_url that names no version and the path."""
    headers: ClassVar[Mapping[str, str]] = {}
    """Sent where the harness sends none of that name."""

    @abstractmethod
    def authorization(self, key: str) -> tuple[str, str]:
        """The header that carries a key."""

    @abstractmethod
    def upstream_path(self, path: str, model: Model) -> str:
        """Where a call goes: the harness's path with the run's model in it."""

    @abstractmethod
    def settings_for(self, request: Mapping[str, Any], model: Model) -> dict[str, Any]:
        """The top-level fields that the gateway adds to a request or replaces in it."""

    def objection(self, request: Mapping[str, Any]) -> str | None:
        """Why a request cannot be metered and is refused."""
        return None

    @abstractmethod
    def read_prompt(self, request: Mapping[str, Any]) -> Prompt:
        """The conversation of a request; what cannot be understood is left out, never an error."""

    @abstractmethod
    def read_answer(self, raw: bytes, *, streamed: bool) -> Answer:
        """What a successful answer says, as far as it came."""

    def read_error(self, raw: bytes, status: int) -> str:
        """Why a call failed, from the body of a response that is not a success."""
        body = parse(raw)
        if isinstance(body, list) and body:
            body = body[0]
        said = error_text(body.get("error")) if isinstance(body, Mapping) else None
        return f"HTTP {status}: {(said or raw.decode('utf-8', 'replace')).strip()[:2000]}"

    @abstractmethod
    def error_body(self, status: int, message: str, code: str) -> dict[str, Any]:
        """An error of the gateway's own, as this API would say it."""

    @abstractmethod
    def model_entry(self, name: str) -> dict[str, Any]:
        """The run's model as this API describes one."""

    @abstractmethod
    def model_list(self, name: str) -> dict[str, Any]:
        """All models of a run: one."""

    @abstractmethod
    def question(self, text: str, model: Model) -> tuple[str, dict[str, Any]]:
        """Path and body of the smallest request that asks something."""
