"""Which conversation a request goes on with, and what in it is new. Pure."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from clawbench.gateway.exchange import Message, Prompt

MOST_VIEWS = 16


@dataclass(eq=False)
class View:
    """What the model last saw on one line of a conversation, and its answer."""

    keys: list[str]
    answered: bool = False
    """The last key is the model's answer."""

    def unseen(self, keys: list[str]) -> list[int]:
        """Positions of the messages that this view does not hold."""
        same = next((n for n, (a, b) in enumerate(zip(self.keys, keys, strict=False)) if a != b), None)
        place = min(len(self.keys), len(keys)) if same is None else same
        new: list[int] = []
        for position, key in enumerate(keys[place:], place):
            if self._sent_back(position, place, key):
                place += 1
                continue
            try:
                place = self.keys.index(key, place) + 1
            except ValueError:
                new.append(position)
        return new

    def begins(self, keys: list[str]) -> bool:
        """The request holds all that was sent before, so that this view can be forgotten."""
        sent = self.keys[:-1] if self.answered else self.keys
        return keys[: len(sent)] == sent

    def _sent_back(self, position: int, place: int, key: str) -> bool:
        # By place, not by content: harnesses trim and rewrite the answers that they send back.
        last = len(self.keys) - 1
        return self.answered and position == place == last and key.startswith("assistant")


@dataclass(eq=False)
class Thread:
    """One conversation. It has several views where a harness forks it or rewrites its history."""

    number: int
    system: str = ""
    tools: str = ""
    views: list[View] = field(default_factory=list)

    def nearest(self, keys: list[str]) -> tuple[View, list[int]]:
        """The view that leaves least unseen."""
        aligned = [(view, view.unseen(keys)) for view in reversed(self.views)] or [
            (View([]), list(range(len(keys))))
        ]
        return min(aligned, key=lambda pair: len(pair[1]))

    def look(self, keys: list[str]) -> tuple[View, list[int]]:
        """Take a request in; returns its view and the positions of what is new."""
        before, new = self.nearest(keys)
        if before in self.views and before.begins(keys):
            self.views.remove(before)
        view = View(list(keys))
        self.views = [*self.views, view][-MOST_VIEWS:]
        return view, new

    def kinship(self, prompt: Prompt, keys: list[str]) -> int:
        """How surely a request belongs here; 0 for a stranger."""
        same_system, same_tools = prompt.system == self.system, tools_key(prompt) == self.tools
        shared = len(keys) - len(self.nearest(keys)[1])
        if shared == 0:
            return int(same_system and same_tools and bool(prompt.system) and bool(prompt.tools))
        if shared == 1 and not same_system and not (prompt.tools and same_tools):
            return 0
        return shared + same_system + same_tools


def tools_key(prompt: Prompt) -> str:
    return _digest(prompt.tools) if prompt.tools else ""


def message_key(message: Message) -> str:
    """Equal for two messages that say the same: ids, thinking and outer blanks do not count."""
    blocks = message["content"]
    calls = [[block["name"], block["arguments"]] for block in blocks if block["type"] == "toolCall"]
    said = [block.get("text", block) for block in blocks if block["type"] in ("text", "attachment")]
    stripped = [text.strip() if isinstance(text, str) else text for text in said]
    return f"{message['role']}:{_digest(calls or stripped)}"


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=12).hexdigest()
