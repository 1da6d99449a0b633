"""OpenAI chat completions, which most providers and local servers speak. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects import chat_answer, chat_request, openai_errors
from clawbench.gateway.dialects.dialect import Dialect
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.models import ApiType, Model


class ChatCompletions(Dialect):
    api_type = ApiType.OPENAI_COMPLETIONS

    def authorization(self, key: str) -> tuple[str, str]:
        return "authorization", f"Bearer {key}"

    def upstream_path(self, path: str, model: Model) -> str:
        return path

    def settings_for(self, request: Mapping[str, Any], model: Model) -> dict[str, Any]:
        return chat_request.settings_for(request, model)

    def read_prompt(self, request: Mapping[str, Any]) -> Prompt:
        return chat_request.read_prompt(request)

    def read_answer(self, raw: bytes, *, streamed: bool) -> Answer:
        return chat_answer.read_stream(raw) if streamed else chat_answer.read_whole(raw)

    def error_body(self, status: int, message: str, code: str) -> dict[str, Any]:
        return openai_errors.error_body(status, message, code)

    def model_entry(self, name: str) -> dict[str, Any]:
        return openai_errors.model_entry(name)

    def model_list(self, name: str) -> dict[str, Any]:
        return {"object": "list", "data": [self.model_entry(name)]}

    def question(self, text: str, model: Model) -> tuple[str, dict[str, Any]]:
        messages = [{"role": "user", "content": text}]
        return "/v1/chat/completions", {"model": model.name, "messages": messages}
