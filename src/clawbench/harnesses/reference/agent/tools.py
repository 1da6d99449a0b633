"""What a tool is, and how a model's call of one becomes a result, whatever the model wrote."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .text import cut_middle

Parameters = dict[str, Any]


class ToolError(Exception):
    """A call that cannot be done; the message tells the model why and what to do."""


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    run: Callable[..., Awaitable[str]]
    parameters: Parameters = field(default_factory=dict)
    """Name -> JSON Schema of the parameter."""
    required: Sequence[str] = ()

    def schema(self) -> dict[str, Any]:
        parameters = {
            "type": "object",
            "properties": self.parameters,
            "required": list(self.required),
            "additionalProperties": False,
        }
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


class Toolbox:
    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def schemas(self) -> list[dict[str, Any]]:
        return [tool.schema() for tool in self._tools.values()]

    async def call(self, name: str, arguments: Any) -> str:
        """The result of one call. Every mistake of the model becomes an `error:` result."""
        try:
            tool = self._tools.get(name)
            if tool is None:
                raise ToolError(f"there is no tool {name!r}; there are {', '.join(self._tools)}")
            return cut_middle(await tool.run(**_checked(tool, arguments)))
        except ToolError as error:
            return f"error: {error}"
        except (OSError, UnicodeError) as error:
            return f"error: {error}"


def _checked(tool: Tool, arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise ToolError(f"the arguments of {tool.name} are not JSON ({error})") from None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict) or "malformed_arguments" in arguments:
        raise ToolError(
            f"the arguments of {tool.name} must be a JSON object; repeat the call with valid JSON"
        )
    missing = [name for name in tool.required if arguments.get(name) is None]
    unknown = [name for name in arguments if name not in tool.parameters]
    if missing or unknown:
        problem = f"lacks {', '.join(missing)}" if missing else f"has no parameter {', '.join(unknown)}"
        raise ToolError(f"{tool.name} {problem}; its parameters are {', '.join(tool.parameters) or 'none'}")
    return {
        name: _typed(tool, name, value, tool.parameters[name]["type"])
        for name, value in arguments.items()
        if value is not None
    }


def _typed(tool: Tool, name: str, value: Any, kind: str) -> Any:
    """The value as the type wanted; models often send numbers and booleans as text."""
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and kind in ("integer", "number", "boolean"):
        with contextlib.suppress(ValueError):
            value = json.loads(value.strip().strip("[]").lower())
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    wanted: tuple[type, ...] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
    }[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean"):
        raise ToolError(f"{name} of {tool.name} must be of type {kind}, not {json.dumps(value)}")
    return value
