"""OpenAI's responses that go on from what the provider keeps: the conversation on record stays whole."""

from __future__ import annotations

import json
from typing import Any

from clawbench.gateway.conversation import Conversation
from clawbench.gateway.dialects import RESPONSES
from clawbench.gateway.exchange import Answer

TOOLS = [{"type": "function", "name": "shell", "parameters": {"type": "object"}}]


class Talk:
    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.conversation = Conversation(self.lines.append, {})

    def turn(self, said: Any, answer_id: str, text: str, **request: Any) -> None:
        given = {"input": said, "instructions": "Be exact.", "tools": TOOLS, **request}
        place = self.conversation.ask(RESPONSES.read_prompt(given))
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        body = {"id": answer_id, "status": "completed", "output": [item]}
        answer: Answer = RESPONSES.read_answer(json.dumps(body).encode(), streamed=False)
        self.conversation.answer(place, answer)

    def said(self) -> list[tuple[str, str, bool]]:
        return [
            (line["message"]["role"], line["message"]["content"][0]["text"], line.get("side", False))
            for line in self.lines
            if line["type"] == "message"
        ]


def test_each_turn_goes_on_from_the_last_answer() -> None:
    talk = Talk()
    talk.turn("Fix it.", "resp_1", "Reading.")
    talk.turn("Again.", "resp_x", "A title.", instructions="Name this.", tools=[])
    result = [{"type": "function_call_output", "call_id": "c", "output": "ok"}]
    talk.turn(result, "resp_2", "Done.", previous_response_id="resp_1")
    # The same words once more: with what was kept before them they are new.
    talk.turn(result, "resp_3", "Really.", previous_response_id="resp_2")
    assert talk.said() == [
        ("user", "Fix it.", False),
        ("assistant", "Reading.", False),
        ("user", "Again.", True),
        ("assistant", "A title.", True),
        ("toolResult", "ok", False),
        ("assistant", "Done.", False),
        ("toolResult", "ok", False),
        ("assistant", "Really.", False),
    ]


def test_two_answers_to_one() -> None:
    talk = Talk()
    talk.turn("Fix it.", "resp_1", "Reading.")
    talk.turn("So?", "resp_2", "Left.", previous_response_id="resp_1")
    talk.turn("So?", "resp_3", "Right.", previous_response_id="resp_1")
    assert [text for _, text, side in talk.said() if not side] == [
        "Fix it.",
        "Reading.",
        "So?",
        "Left.",
        "Right.",
    ]


def test_a_conversation_that_the_provider_keeps() -> None:
    talk = Talk()
    for number in range(3):
        talk.turn("Go on.", f"resp_{number}", f"Step {number}.", conversation={"id": "conv_1"})
    assert [text for _, text, _ in talk.said()] == [
        "Go on.",
        "Step 0.",
        "Go on.",
        "Step 1.",
        "Go on.",
        "Step 2.",
    ]


def test_an_answer_of_another_run_is_no_error() -> None:
    talk = Talk()
    talk.turn("Go on.", "resp_9", "Yes.", previous_response_id="resp_from_elsewhere")
    assert [text for _, text, _ in talk.said()] == ["Go on.", "Yes."]
