"""The loop: ask, do what was asked, tell what came of it, until it is finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .chat import Answer, Chat, Message, ModelError
from .history import CONVERSATION_CHARS, as_sent_back, shorten
from .tools import Tool, Toolbox
from .transcript import Result, Transcript

NUDGE = (
    "You called no tool. If the task is done, or cannot be done, call `finish`; "
    "otherwise go on with the next tool call."
)


class Loop:
    """One conversation. `result` is true at any moment, so that it can be saved whenever the end comes."""

    def __init__(self, home: Path, chat: Chat, tools: list[Tool], max_turns: int) -> None:
        self._home, self._chat, self._max_turns = home, chat, max_turns
        self._toolbox = Toolbox([*tools, self._finish_tool()])
        self._messages: list[Message] = []
        self._finished = False
        self._transcript = Transcript(home)
        self.result = Result()

    def close(self) -> None:
        self._transcript.close()

    async def run(self, system: str, prompt: str) -> str:
        """The conversation to its end; returns the finish reason."""
        self._add({"role": "system", "content": system})
        self._add({"role": "user", "content": prompt})
        nudged = False
        while self.result.turns < self._max_turns:
            answer = await self._ask()
            calls = answer.message.get("tool_calls", [])
            if calls:
                await self._do(calls)
                nudged = False
            elif nudged:
                return "stop"
            else:
                self._add({"role": "user", "content": NUDGE})
                nudged = True
            if self._finished:
                return "stop"
        return "turn_limit"

    async def _ask(self) -> Answer:
        shorten(self._messages)
        try:
            answer = await self._chat.answer(self._messages, self._toolbox.schemas())
        except ModelError as error:
            if not (error.too_long and shorten(self._messages, CONVERSATION_CHARS // 4)):
                raise
            answer = await self._chat.answer(self._messages, self._toolbox.schemas())
        answer = replace(answer, message=as_sent_back(answer.message))
        self._add(answer.message, usage=answer.usage, finish_reason=answer.finish_reason)
        self.result.turns += 1
        self.result.usage.add(answer.usage)
        self.result.answer = answer.message["content"] or self.result.answer
        self.result.save(self._home)
        return answer

    async def _do(self, calls: list[Any]) -> None:
        """Do the calls in the order given; each gets its result, also the malformed ones."""
        for call in calls:
            function = call["function"]
            content = await self._toolbox.call(function["name"], function["arguments"])
            self.result.tool_calls += 1
            self._add({"role": "tool", "tool_call_id": call["id"], "content": content})

    def _add(self, message: Message, **more: Any) -> None:
        self._messages.append(message)
        self._transcript.add(message, **more)

    async def _finish(self, summary: str = "") -> str:
        self._finished = True
        self.result.answer = summary or self.result.answer
        return "finished"

    def _finish_tool(self) -> Tool:
        return Tool(
            "finish",
            "End the work: the task is done, or cannot be done. Say briefly what was done.",
            self._finish,
            {"summary": {"type": "string"}},
            ["summary"],
        )
