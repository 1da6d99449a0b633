"""Signs, after a run, that its agent has seen the answer. Pure: works on what was recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from clawbench.tasks import CodingTask

_COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{10,40}(?![0-9a-f])")
_HOSTS = (
    "swebench.com",
    "huggingface.co/datasets",
    "hf.co/datasets",
    "raw.githubusercontent.com",
    "api.github.com",
    "patch-diff.githubusercontent.com",
)
_SHORTEST_LINE = 24
_FEW = 2
_SHARE = 0.5


@dataclass(frozen=True)
class Said:
    """One message of a run: who said it, and all the text in it."""

    role: str
    text: str
    commands: str = ""
    """What the agent asked its tools to do."""


def messages_of(lines: Iterable[dict[str, Any]]) -> list[Said]:
    """The messages of agent-messages.jsonl."""
    return [_said(line["message"]) for line in lines if line.get("type") == "message" and "message" in line]


def _said(message: dict[str, Any]) -> Said:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": str(content)}]
    calls = [json.dumps(part, ensure_ascii=False) for part in parts if part.get("type") == "toolCall"]
    commands = "\n".join(_plain(call) for call in calls)
    texts = [str(part.get("text") or part.get("thinking") or "") for part in parts]
    return Said(str(message.get("role")), "\n".join((*texts, commands)), commands)


def _plain(text: str) -> str:
    """JSON strings with their line breaks and quotes as they were meant."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")


def answers(messages: Sequence[Said]) -> list[str]:
    """What the agent said, the last first."""
    return [said.text for said in reversed(messages) if said.role == "assistant"]


def commits_in(messages: Sequence[Said]) -> set[str]:
    """Everything that looks like a commit id in what the agent read or asked for."""
    return {found for said in messages if said.role != "user" for found in _COMMIT.findall(said.text)}


def signs(task: CodingTask, messages: Sequence[Said], future_commits: Iterable[str] = ()) -> list[str]:
    """Each sign in words. `future_commits`: ids in the traffic that the base commit cannot reach."""
    found = [f"a commit after the base was seen: {commit}" for commit in sorted(future_commits)]
    prompt = "\n".join(said.text for said in messages[:1])
    for name, patch in (("gold patch", task.patch), ("test patch", task.test_patch)):
        lines = [line for line in telling_lines(patch) if line not in prompt]
        read = [line for line in lines if _read_before_written(line, messages)]
        if enough(len(read), len(lines)):
            found.append(
                f"text of the {name} was read before the agent wrote it ({len(read)} of {len(lines)} lines)"
            )
    written = [line for line in telling_lines(task.test_patch) if _written(line, messages)]
    if len(written) > _FEW:
        found.append(
            f"text of the test patch was written by the agent ({len(written)} lines), which never saw it"
        )
    return found + _hosts(task, messages)


def enough(seen: int, of: int) -> bool:
    """One short line can be chance: a few, or most of a small patch, cannot."""
    return seen > _FEW or (seen > 0 and of > 0 and seen / of > _SHARE and seen >= min(_FEW, of))


def telling_lines(patch: str) -> list[str]:
    """Added lines that are long enough to be no coincidence, and are not also removed by the same patch."""
    kept = {line[1:].strip() for line in patch.splitlines() if line.startswith((" ", "-"))}
    added = (
        line[1:].strip() for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")
    )
    return list(dict.fromkeys(line for line in added if len(line) >= _SHORTEST_LINE and line not in kept))


def _read_before_written(line: str, messages: Sequence[Said]) -> bool:
    first = next((said for said in messages[1:] if line in said.text), None)
    return first is not None and first.role == "toolResult"


def _written(line: str, messages: Sequence[Said]) -> bool:
    first = next((said for said in messages[1:] if line in said.text), None)
    return first is not None and first.role == "assistant"


def _hosts(task: CodingTask, messages: Sequence[Said]) -> list[str]:
    asked = "\n".join(said.commands for said in messages if said.role == "assistant")
    hosts = [*_HOSTS, f"github.com/{task.repo}"]
    return [f"the agent asked for {host}" for host in hosts if host.lower() in asked.lower()]
