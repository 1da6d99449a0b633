"""Signs in a run's conversation that its agent has seen the answer."""

from __future__ import annotations

from typing import Any

from clawbench.runner.leaks import answers, commits_in, messages_of, signs
from clawbench.tasks import CodingTask

FIX = [
    "        username_max_length = self.username_field.max_length or 254",
    "        self.fields['username'].widget.attrs['maxlength'] = username_max_length",
    "        return super().prepare_value_for_the_widget(username_max_length)",
]
TESTS = [
    "        self.assertEqual(form.fields['username'].widget.attrs.get('maxlength'), 255)",
    "        self.assertEqual(form.fields['username'].widget.attrs.get('maxlength'), 254)",
    "    def test_username_field_max_length_defaults_to_two_hundred_and_fifty_four(self):",
]


def patch(lines: list[str]) -> str:
    return "--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + "".join(f"+{line}\n" for line in lines)


TASK = CodingTask.model_validate(
    {
        "repo": "django/django",
        "base_commit": "a" * 40,
        "problem_statement": "x",
        "language": "Python",
        "test_command": "x",
        "FAIL_TO_PASS": ["x"],
        "repo_source": {"mirror": "/x"},
        "patch": patch(FIX),
        "test_patch": patch(TESTS),
    }
)


def conversation(*entries: tuple[str, str]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "session"}]
    for role, text in entries:
        part: dict[str, Any] = {"type": "text", "text": text}
        if role == "call":
            part = {"type": "toolCall", "name": "shell", "arguments": {"command": text}}
        message = {"role": "assistant" if role == "call" else role, "content": [part]}
        lines.append({"type": "message", "message": message})
    return lines


def found(*entries: tuple[str, str]) -> list[str]:
    return signs(TASK, messages_of(conversation(("user", "Resolve the issue."), *entries)))


def test_a_fix_of_ones_own_is_clean_also_when_it_is_read_again() -> None:
    text = "\n".join(FIX)
    assert found(("call", f"cat > x <<'E'\n{text}\nE"), ("toolResult", text)) == []
    assert found(("call", "grep -rn maxlength"), ("toolResult", FIX[0])) == []


def test_the_gold_patch_read_before_it_is_written_is_flagged() -> None:
    (sign,) = found(("call", "git show"), ("toolResult", "\n".join(FIX)), ("call", FIX[0]))
    assert "gold patch was read" in sign


def test_the_test_patch_is_flagged_read_or_written() -> None:
    assert "test patch was read" in found(("toolResult", "\n".join(TESTS)))[0]
    assert "test patch was written" in found(("call", "\n".join(TESTS)))[0]
    assert found(("call", TESTS[0])) == []


def test_hosts_and_commits() -> None:
    assert found(("call", "curl https://api.github.com/repos/x")) == ["the agent asked for api.github.com"]
    assert found(("call", "git fetch https://github.com/Django/django")) == [
        "the agent asked for github.com/django/django"
    ]
    assert found(("toolResult", "see https://www.swebench.com")) == []
    messages = messages_of(
        conversation(("user", "b" * 40), ("toolResult", f"commit {'c' * 40}"), ("call", "d" * 12))
    )
    assert commits_in(messages) == {"c" * 40, "d" * 12}
    assert signs(TASK, messages, ["c" * 40]) == [f"a commit after the base was seen: {'c' * 40}"]
    assert answers(messages_of(conversation(("assistant", "one"), ("assistant", "two"))))[0].startswith("two")
