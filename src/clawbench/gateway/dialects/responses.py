"""OpenAI responses. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects import openai_errors, responses_answer, responses_request
from clawbench.gateway.dialects.dialect import Dialect
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.models import ApiType, Model


class Responses(Dialect):
    api_type = ApiType.OPENAI_RESPONSES

    def authorization(self, key: str) -> tuple[str, str]:
        return "authorization", f"Bearer {key}"

    def upstream_path(self, path: str, model: Model) -> str:
        return path

    def settings_for(self, request: Mapping[str, Any], model: Model) -> dict[str, Any]:
        return responses_request.settings_for(request, model)

    def objection(self, request: Mapping[str, Any]) -> str | None:
        if request.get("background"):
            return "The answer of a background request passes no meter: send it without `background`."
        return None

    def read_prompt(self, request: Mapping[str, Any]) -> Prompt:
        return responses_request.read_prompt(request)

    def read_answer(self, raw: bytes, *, streamed: bool) -> Answer:
        return responses_answer.read_stream(raw) if streamed else responses_answer.read_whole(raw)

    def error_body(self, status: int, message: str, code: str) -> dict[str, Any]:
        return openai_errors.error_body(status, message, code)

    def model_entry(self, name: str) -> dict[str, Any]:
        return openai_errors.model_entry(name)

    def model_list(self, name: str) -> dict[str, Any]:
        return {"object": "list", "data": [self.model_entry(name)]}

    def question(self, text: str, model: Model) -> tuple[str, dict[str, Any]]:
        return "/v1/responses", {"model": model.name, "input": text}
