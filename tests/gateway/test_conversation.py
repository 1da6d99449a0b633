"""agent-messages.jsonl from traffic: every message once, in one shape."""

from __future__ import annotations

from typing import Any

from clawbench.gateway.conversation import MOST_THREADS, Conversation
from clawbench.gateway.dialects.chat_request import read_prompt
from clawbench.gateway.exchange import Answer, Prompt

TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}]
SYSTEM = {"role": "system", "content": "You are an agent."}
TASK = {"role": "user", "content": "Fix the bug."}


def _call(name: str, call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _answer(text: str = "", *calls: dict[str, Any]) -> Answer:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for call in calls:
        content.append(
            {"type": "toolCall", "id": call["id"], "name": call["function"]["name"], "arguments": {}}
        )
    return Answer(content=content)


class Log:
    """A conversation and the lines it wrote."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.conversation = Conversation(self.lines.append, {"id": "run-1"})

    def turn(self, messages: list[dict[str, Any]], answer: Answer, tools: Any = TOOLS) -> None:
        place = self.conversation.ask(read_prompt({"messages": messages, "tools": tools}))
        self.conversation.answer(place, answer)

    def said(self, *, side: bool = False) -> list[str]:
        return [
            f"{line['message']['role']}: " + "+".join(self._words(line["message"]["content"]))
            for line in self.lines
            if line["type"] == "message" and line.get("side", False) is side
        ]

    @staticmethod
    def _words(content: list[dict[str, Any]]) -> list[str]:
        return [str(block.get("text") or block.get("name") or block["type"]) for block in content]


def test_shape_of_every_line() -> None:
    log = Log()
    assistant = {"role": "assistant", "content": None, "tool_calls": [_call("shell", "c1")]}
    result = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "done"}]}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "Look"}, picture]}
    log.turn([SYSTEM, asked], _answer("", _call("shell", "c1")))
    log.turn([SYSTEM, asked, assistant, result], _answer("Finished"))
    session, system, tools, user, call, tool_result, final = log.lines
    assert (session["type"], session["version"], session["id"]) == ("session", 1, "run-1")
    assert (system["type"], system["text"]) == ("system", "You are an agent.")
    assert tools["tools"] == [{"name": "shell", "parameters": {"type": "object"}}]
    assert user["message"]["content"][0] == {"type": "text", "text": "Look"}
    assert user["message"]["content"][1]["type"] == "attachment"
    assert call["message"] == {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "shell", "arguments": {}}],
    }
    assert tool_result["message"] == {
        "role": "toolResult",
        "content": [{"type": "text", "text": "done"}],
        "toolCallId": "c1",
    }
    assert final["message"]["content"] == [{"type": "text", "text": "Finished"}]
    assert all("timestamp" in line for line in log.lines)


def test_same_result_twice_is_two_messages() -> None:
    log, messages = Log(), [SYSTEM, TASK]
    for number in range(3):
        log.turn(messages, _answer("", _call("shell", f"c{number}")))
        messages = [
            *messages,
            {"role": "assistant", "content": "", "tool_calls": [_call("shell", f"c{number}")]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "ok"},
        ]
    log.turn(messages, _answer("bye"))
    assert log.said() == [
        "user: Fix the bug.",
        *["assistant: shell", "toolResult: ok"] * 3,
        "assistant: bye",
    ]


def test_answers_that_come_back_changed_are_not_repeated() -> None:
    log = Log()
    log.turn([SYSTEM, TASK], _answer("  <think>hm</think> I look.  "))
    changed = {"role": "assistant", "content": "I look."}
    log.turn([SYSTEM, TASK, changed, {"role": "user", "content": "go on"}], _answer("Done"))
    log.turn(
        [
            SYSTEM,
            TASK,
            changed,
            {"role": "user", "content": "go on"},
            {"role": "assistant", "content": "Done"},
            {"role": "user", "content": "go on"},
        ],
        _answer("Really"),
    )
    assert log.said() == [
        "user: Fix the bug.",
        "assistant:   <think>hm</think> I look.  ",
        "user: go on",
        "assistant: Done",
        "user: go on",
        "assistant: Really",
    ]


def test_a_retry_repeats_nothing() -> None:
    log = Log()
    log.turn([SYSTEM, TASK], Answer())
    log.turn([SYSTEM, TASK], Answer())
    log.turn([SYSTEM, TASK], _answer("At last"))
    assert log.said() == ["user: Fix the bug.", "assistant: At last"]


def test_title_call_before_the_main_conversation_is_a_side_call() -> None:
    log = Log()
    title = [{"role": "system", "content": "Write a title."}, TASK]
    log.turn(title, _answer("Bug fix"), tools=None)
    assert [line["type"] for line in log.lines] == ["session"]
    log.turn([SYSTEM, TASK], _answer("Working"))
    log.turn([SYSTEM, TASK, {"role": "assistant", "content": "Working"}], _answer("Done"))
    assert log.said() == ["user: Fix the bug.", "assistant: Working", "assistant: Done"]
    assert log.said(side=True) == ["user: Fix the bug.", "assistant: Bug fix"]


def test_side_call_in_between_leaves_the_main_conversation_whole() -> None:
    log = Log()
    log.turn([SYSTEM, TASK], _answer("One"))
    log.turn([{"role": "user", "content": "Is this text safe?"}], _answer("Yes"), tools=None)
    log.turn(
        [SYSTEM, TASK, {"role": "assistant", "content": "One"}, {"role": "user", "content": "more"}],
        _answer("Two"),
    )
    assert log.said() == ["user: Fix the bug.", "assistant: One", "user: more", "assistant: Two"]
    assert log.said(side=True) == ["user: Is this text safe?", "assistant: Yes"]
    assert {line["thread"] for line in log.lines if line.get("side")} == {1}


def test_harness_without_tools_is_written_from_its_second_call() -> None:
    log = Log()
    log.turn([SYSTEM, TASK], _answer("```ls```"), tools=None)
    log.turn(
        [SYSTEM, TASK, {"role": "assistant", "content": "```ls```"}, {"role": "user", "content": "a.py"}],
        _answer("```cat a.py```"),
        tools=None,
    )
    assert log.said() == [
        "user: Fix the bug.",
        "assistant: ```ls```",
        "user: a.py",
        "assistant: ```cat a.py```",
    ]


def test_one_call_without_tools_is_written_at_the_end() -> None:
    log = Log()
    log.turn([TASK], _answer("Hello"), tools=None)
    assert log.said() == []
    log.conversation.close()
    assert log.said() == ["user: Fix the bug.", "assistant: Hello"]


def test_shortened_history_repeats_nothing() -> None:
    log = Log()
    history: list[dict[str, Any]] = [TASK]
    for number in range(6):
        window = [SYSTEM, TASK, *history[1:][-4:]]
        log.turn(window, _answer(f"answer {number}"))
        history += [
            {"role": "assistant", "content": f"answer {number}"},
            {"role": "user", "content": f"result {number}"},
        ]
    expected = ["user: Fix the bug.", "assistant: answer 0"]
    for number in range(1, 6):
        expected += [f"user: result {number - 1}", f"assistant: answer {number}"]
    assert log.said() == expected


def test_rewritten_history_stays_in_the_main_conversation() -> None:
    log = Log()
    log.turn([SYSTEM, TASK], _answer("One"))
    log.turn([SYSTEM, {"role": "user", "content": "Summary: did One."}], _answer("Two"))
    assert log.said() == ["user: Fix the bug.", "assistant: One", "user: Summary: did One.", "assistant: Two"]


def test_two_agents_in_turn_do_not_repeat_each_other() -> None:
    log = Log()
    histories: list[list[dict[str, Any]]] = [
        [SYSTEM, {"role": "user", "content": "Part A"}],
        [SYSTEM, {"role": "user", "content": "Part B"}],
    ]
    for number in range(5):
        for name, history in zip("AB", histories, strict=True):
            log.turn(history, _answer(f"{name}{number}"))
            history += [
                {"role": "assistant", "content": f"{name}{number}"},
                {"role": "user", "content": f"result {name}{number}"},
            ]
    everything = log.said()
    assert len(everything) == len(set(everything)) == 2 * (1 + 5 + 4)


def test_changed_system_prompt_is_noted_once_per_change() -> None:
    log = Log()
    for clock in ("10:00", "10:00", "10:01"):
        log.turn([{"role": "system", "content": f"It is {clock}."}, TASK], _answer("ok"))
    assert [line["text"] for line in log.lines if line["type"] == "system"] == [
        "It is 10:00.",
        "It is 10:01.",
    ]


def test_odd_requests_are_no_crash() -> None:
    log = Log()
    for messages in (
        None,
        "text",
        [1, None],
        [{}],
        [{"role": "user"}],
        [{"role": "assistant", "tool_calls": [1]}],
    ):
        log.turn(messages, _answer("x"), tools=[1, {}, {"function": 3}])  # type: ignore[arg-type]
    log.conversation.close()


def test_conversations_without_end_are_written_at_once_and_forgotten() -> None:
    lines: list[dict[str, Any]] = []
    conversation = Conversation(lines.append, {})
    for number in range(500):
        said = {"role": "user", "content": [{"type": "text", "text": f"Title for {number}"}]}
        conversation.ask(Prompt([said]))
    messages = [line for line in lines if line["type"] == "message"]
    assert len(messages) == 500, "none is held back for the end"
    assert [line.get("thread", 0) for line in messages] == list(range(500))
    assert "side" not in messages[0]
    assert len(conversation._threads) <= MOST_THREADS
