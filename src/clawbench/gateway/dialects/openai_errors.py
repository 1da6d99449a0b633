"""Errors and model lists as OpenAI's two APIs write them. Pure."""

from __future__ import annotations

from typing import Any


def error_body(status: int, message: str, code: str) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "api_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "clawbench"}
