"""What one model call says, in the one shape that every API is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clawbench.results import Usage

Block = dict[str, Any]
"""`text`, `thinking`, `toolCall` or `attachment`, as in agent-messages.jsonl."""
Message = dict[str, Any]
"""`role` (user, assistant, toolResult) and `content`, a list of blocks."""


@dataclass(frozen=True)
class Prompt:
    """What the harness sent."""

    messages: list[Message]
    system: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list)
    continues: str | None = None
    """The answer, or the conversation, that the provider keeps and puts before this."""
    kept_as: str | None = None
    """The conversation to which the provider adds this."""

    @property
    def characters(self) -> int:
        """Length of what the model had to read; attachments count for nothing."""
        said = sum(characters(block) for message in self.messages for block in message["content"])
        return said + len(self.system) + (len(str(self.tools)) if self.tools else 0)


@dataclass(frozen=True)
class Answer:
    """What came back, as far as it came."""

    content: list[Block] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage | None = None
    billed_usd: float | None = None
    model: str | None = None
    error: str | None = None
    """An error reported inside an answer that began well."""
    complete: bool = False
    """Nothing more was to come."""
    usage_final: bool = True
    """False where the usage was reported before the answer had come to its end."""
    service_tier: str | None = None
    """What the provider says it served the call as, where it says so: tiers differ in price."""

    id: str | None = None
    """By which a later request may continue it."""
    uses: Mapping[str, int] = field(default_factory=dict)
    """How often something was used that has a fee of its own: `web_search`, `file_search`, …"""

    @property
    def characters(self) -> int:
        return sum(characters(block) for block in self.content)


def characters(block: Block) -> int:
    """Length of what a model had to read or write for this block."""
    arguments = block.get("arguments")
    written = len(str(arguments)) if arguments is not None else 0
    return len(block.get("text") or block.get("thinking") or block.get("name") or "") + written


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def tool_call_block(call_id: Any, name: Any, arguments: Any) -> Block:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
