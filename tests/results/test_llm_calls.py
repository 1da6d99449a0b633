"""llm-calls.jsonl: requests that repeat are written once, and read back whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.results import CallLog, read_llm_calls

PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 20_000


def write(path: Path, requests: list[dict[str, Any]]) -> None:
    log = CallLog(path)
    for number, request in enumerate(requests, 1):
        shared = log.share(f"call-{number:05d}", request)
        log.append({"id": f"call-{number:05d}", "request": shared.value})
        log.remember(shared)
    log.close()


def conversation(turns: int) -> list[dict[str, Any]]:
    """Each request repeats the ones before it, with one more picture."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s/~" * 2000}]
    requests = []
    for turn in range(turns):
        blocks = [{"type": "text", "text": f"t{turn}"}, {"type": "image_url", "url": f"{PICTURE}{turn}"}]
        messages = [*messages, {"role": "user", "content": blocks}]
        requests.append({"model": "m", "messages": messages, "a/b": {"c~d": ["x" * 2000]}})
    return requests


def test_pictures_that_repeat_do_not_add_up(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    requests = conversation(40)
    write(path, requests)
    assert path.stat().st_size < 1.1 * 40 * len(PICTURE)
    assert [line["request"] for line in read_llm_calls(path)] == requests


def test_a_block_that_moves_is_still_found(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    marked = {"role": "user", "content": [{"type": "text", "text": PICTURE, "cache_control": {"type": "e"}}]}
    plain = {"role": "user", "content": [{"type": "text", "text": PICTURE}]}
    requests = [{"messages": [marked]}, {"messages": [{"role": "user", "content": "first"}, plain]}]
    write(path, requests)
    assert path.stat().st_size < 1.1 * len(PICTURE)
    assert [line["request"] for line in read_llm_calls(path)] == requests


def test_small_requests_stand_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    requests = [{"messages": [{"role": "user", "content": "Hi"}]}] * 2
    write(path, requests)
    assert [json.loads(line)["request"] for line in path.read_text().splitlines()] == requests


def test_a_request_that_holds_a_pointer_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    requests = [{"m": [PICTURE]}, {"m": [PICTURE, {"$same_as": "call-00001/m"}]}]
    write(path, requests[:1])
    log = CallLog(path)
    assert log.share("call-00002", requests[1]).value == requests[1]
    log.close()


@pytest.mark.parametrize("pointer", ["call-00009/messages", "call-00001/none", "call-00001/messages/7", 3])
def test_a_pointer_to_nowhere_is_named(tmp_path: Path, pointer: Any) -> None:
    path = tmp_path / "calls.jsonl"
    first = {"id": "call-00001", "request": {"messages": []}}
    second = {"id": "call-00002", "request": {"messages": [{"$same_as": pointer}]}}
    path.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    with pytest.raises(InputError, match=r"calls\.jsonl: line 2 points at") as caught:
        list(read_llm_calls(path))
    assert caught.value.remedy
