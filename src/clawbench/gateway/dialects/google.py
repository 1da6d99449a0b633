"""Google's generateContent and streamGenerateContent. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawbench.gateway.dialects import google_answer, google_request
from clawbench.gateway.dialects.dialect import Dialect
from clawbench.gateway.exchange import Answer, Prompt
from clawbench.models import ApiType, Model

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
}
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]


class GoogleGenerate(Dialect):
    api_type = ApiType.GOOGLE
    version = "/v1beta"

    def authorization(self, key: str) -> tuple[str, str]:
        return "x-goog-api-key", key

    def upstream_path(self, path: str, model: Model) -> str:
        named = model.upstream_name
        name = named if named.startswith(("models/", "tunedModels/")) else f"models/{named}"
        return f"/{name}:{path.rpartition(':')[2]}"

    def settings_for(self, request: Mapping[str, Any], model: Model) -> dict[str, Any]:
        return google_request.settings_for(request, model)

    def read_prompt(self, request: Mapping[str, Any]) -> Prompt:
        return google_request.read_prompt(request)

    def read_answer(self, raw: bytes, *, streamed: bool) -> Answer:
        return google_answer.read(raw, streamed=streamed)

    def error_body(self, status: int, message: str, code: str) -> dict[str, Any]:
        known = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
        detail = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": code.upper(),
            "domain": "clawbench",
        }
        return {"error": {"code": status, "message": message, "status": known, "details": [detail]}}

    def model_entry(self, name: str) -> dict[str, Any]:
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": _METHODS}

    def model_list(self, name: str) -> dict[str, Any]:
        return {"models": [self.model_entry(name)]}

    def question(self, text: str, model: Model) -> tuple[str, dict[str, Any]]:
        contents = [{"role": "user", "parts": [{"text": text}]}]
        return "/v1beta/models/model:generateContent", {"contents": contents}
