"""Anthropic messages. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects import anthropic_answer, anthropic_request
from clawbench.gateway.dialects.dialect import Dialect
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.models import ApiType, Model

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicMessages(Dialect):
    api_type = ApiType.ANTHROPIC_MESSAGES
    version = "/v1"
    headers = {"anthropic-version": "2023-06-01"}  # noqa: RUF012

    def authorization(self, key: str) -> tuple[str, str]:
        return "x-api-key", key

    def upstream_path(self, path: str, model: Model) -> str:
        return path

    def settings_for(self, request: Mapping[str, Any], model: Model) -> dict[str, Any]:
        return anthropic_request.settings_for(request, model)

    def read_prompt(self, request: Mapping[str, Any]) -> Prompt:
        return anthropic_request.read_prompt(request)

    def read_answer(self, raw: bytes, *, streamed: bool) -> Answer:
        return anthropic_answer.read_stream(raw) if streamed else anthropic_answer.read_whole(raw)

    def error_body(self, status: int, message: str, code: str) -> dict[str, Any]:
        kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": message, "code": code}}

    def model_entry(self, name: str) -> dict[str, Any]:
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "1970-01-01T00:00:00Z",
            "lifecycle": "active",
        }

    def model_list(self, name: str) -> dict[str, Any]:
        return {"data": [self.model_entry(name)], "has_more": False, "first_id": name, "last_id": name}

    def question(self, text: str, model: Model) -> tuple[str, dict[str, Any]]:
        messages = [{"role": "user", "content": text}]
        limit = model.max_tokens or 1024
        return "/v1/messages", {"model": model.name, "max_tokens": limit, "messages": messages}
