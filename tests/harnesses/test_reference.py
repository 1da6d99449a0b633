"""The reference harness for real: its program in a sandbox, a model that plays a script."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError
from clawbench.harnesses import CDP, GATEWAY, AgentResult, RunContext, get_harness
from clawbench.harnesses.evidence import Evidence
from clawbench.harnesses.leftovers import Leftovers, read_regular
from clawbench.harnesses.reference.adapter import ReferenceHarness
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import Claim, FinishReason, Usage

from .conftest import ScriptedModel, call, calls, end_chromium, start_chromium
from .stage import BridgedServices, run_context, tcp_as_unix

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


async def perform(
    tmp_path: Path, answers: ScriptedModel, prompt: str = "Do it.", **more: Any
) -> tuple[AgentResult, Claim | None]:
    async with (
        tcp_as_unix(answers.port, tmp_path / "gateway.sock") as gateway,
        run_context(tmp_path, "coding", {GATEWAY: gateway}, **more) as context,
    ):
        return await run(context, prompt)


async def run(context: RunContext, prompt: str) -> tuple[AgentResult, Claim | None]:
    harness = get_harness("reference")
    await harness.provision(context.sandbox)
    agent = await harness.open(context)
    try:
        result = await harness.perform(agent, prompt)
        return result, await harness.collect(agent, context.harness_dir)
    finally:
        await harness.close(agent)


async def test_coding_tools_work_in_the_sandbox(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies = [
        calls(
            ("write", '{"path": "pkg/a.py", "content": "one\\ntwo\\nthree\\n"}'),
            ("read", '{"path": "pkg/a.py", "start": 2}'),
        ),
        call("edit", path="pkg/a.py", old="two", new="2"),
        call("edit", path="pkg/a.py", old="e", new="E"),
        call("shell", command="cat pkg/a.py; echo oops >&2; exit 3"),
        call("shell", command="sleep 60 & echo $! > child; wait", timeout_s=1),
        call("shell", command="kill -0 $(cat child) 2>&1; env | grep -c run-token"),
        call("list", path="pkg"),
        call("read", path="nowhere.txt"),
        call("no_such_tool"),
        calls(("shell", '{"command": ')),
        call("shell", cmd="ls"),
        call("finish", summary="all done"),
    ]
    result, claim = await perform(tmp_path, model, "Résolve ça.")
    assert result == AgentResult(FinishReason.STOP, 0, "stop")
    assert (tmp_path / "workspace/pkg/a.py").read_text() == "one\n2\nthree\n"
    results = model.results()
    assert results[0] == "wrote 14 characters to pkg/a.py"
    assert results[1] == "     2\ttwo\n     3\tthree"
    assert results[2] == "edited pkg/a.py at line 2"
    assert results[3].startswith("error: `old` occurs 3 times in pkg/a.py")
    assert results[4] == "one\n2\nthree\noops\n[exit code 3]"
    assert results[5] == "[ended after 1 s: it took too long]"
    assert "No such process" in results[6]
    assert "\n0\n" in results[6]
    assert results[7] == "a.py (12 bytes)"
    assert results[8] == "error: there is no file nowhere.txt"
    assert results[9].startswith("error: there is no tool 'no_such_tool'; there are shell, read, list")
    assert results[10].startswith("error: the arguments of shell must be a JSON object")
    assert results[11].startswith("error: shell lacks command")
    assert model.requests[0]["messages"][1] == {"role": "user", "content": "Résolve ça."}
    assert set(model.authorizations) == {"Bearer run-token"}
    assert claim == Claim(usage=Usage(input=12 * 60, cache_read=12 * 40, output=120), turns=12)
    transcript = (tmp_path / "harness/transcript.jsonl").read_text().splitlines()
    assert [json.loads(line)["message"]["role"] for line in transcript][:3] == ["system", "user", "assistant"]
    assert json.loads((tmp_path / "harness/result.json").read_text())["answer"] == "all done"


async def test_the_program_sees_nothing_of_clawbench(tmp_path: Path, model: ScriptedModel) -> None:
    script = (
        "ls /opt/reference /opt/reference/site; cat /proc/$PPID/cmdline | tr '\\0' ' '; echo; "
        "touch /opt/reference/agent/x; "
        "find / -name task.json -o -name expectations.py -o -name solve.yaml 2>/dev/null | grep -v ^/proc"
    )
    model.replies = [call("shell", command=script), call("finish", summary="")]
    await perform(tmp_path, model, "a prompt that must not show in argv")
    (output,) = model.results()
    assert output.startswith("/opt/reference:\nagent\nsite\n\n/opt/reference/site:\nwebsockets\n")
    assert "-I -B /opt/reference/agent" in output
    assert "prompt" not in output
    assert "run-token" not in output
    assert "Read-only file system" in output
    assert "task.json" not in output
    assert "expectations.py" not in output


@pytest.mark.parametrize(
    ("replies", "finish", "detail", "turns"),
    [
        ([{"content": "Done."}, {"content": "Really done."}], FinishReason.STOP, "stop", 2),
        ([{"content": None}, {"content": ""}], FinishReason.EMPTY, "neither answered nor called", 2),
        ([call("list")] * 4, FinishReason.TIMEOUT, "turn_limit", 3),
        ([{"status": 401, "body": b'{"error": "no"}'}], FinishReason.ERROR, "HTTP 401", 0),
    ],
    ids=["answers", "says-nothing", "turn-limit", "refused"],
)
async def test_finish_reasons(
    tmp_path: Path, model: ScriptedModel, replies: list[Any], finish: FinishReason, detail: str, turns: int
) -> None:
    model.replies = list(replies)
    result, claim = await perform(tmp_path, model, max_turns=3)
    assert result.finish_reason is finish
    assert detail in result.detail
    assert claim is not None
    assert claim.turns == turns


async def test_passing_troubles_are_tried_again(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies = [
        {"status": 200, "body": b"not json"},
        {"status": 429, "headers": {"Retry-After": "0"}},
        {"status": 503, "headers": {"Retry-After": "0.01"}},
        call("finish", summary="ok"),
    ]
    result, claim = await perform(tmp_path, model)
    assert result.finish_reason is FinishReason.STOP
    assert len(model.requests) == 4
    assert claim is not None
    assert claim.turns == 1


async def test_its_time_limit_ends_a_hanging_command(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies = [call("shell", command="sleep 60")]
    started = time.monotonic()
    result, claim = await perform(tmp_path, model, time_limit_s=2)
    assert result.finish_reason is FinishReason.TIMEOUT
    assert time.monotonic() - started < 15
    assert claim is not None
    assert claim.turns == 1


async def test_cancelling_ends_the_whole_tree(tmp_path: Path, model: ScriptedModel) -> None:
    model.hold = threading.Event()
    async with (
        tcp_as_unix(model.port, tmp_path / "gateway.sock") as gateway,
        run_context(tmp_path, "coding", {GATEWAY: gateway}) as context,
    ):
        task = asyncio.create_task(run(context, "wait"))
        assert await asyncio.to_thread(model.asked.wait, 30)
        assert isinstance(context.services, BridgedServices)
        process = context.services.process
        assert process is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
        model.hold.set()


async def test_it_runs_without_a_mount_namespace_too(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies = [call("shell", command="pwd"), call("finish", summary="ok")]
    result, _ = await perform(tmp_path, model, provider="none")
    assert result.finish_reason is FinishReason.STOP
    assert model.results()[0] == f"{tmp_path}/workspace\n[exit code 0]"


async def test_model_settings_reach_the_request(tmp_path: Path, model: ScriptedModel) -> None:
    settings = Model(
        name="m", model="vendor/m", base_url="http://x.invalid/v1", api_type=ApiType.OPENAI_COMPLETIONS,
        temperature=0.5, max_tokens=77, thinking_level=ThinkingLevel.HIGH,
    )  # fmt: skip
    await perform(tmp_path, model, model=settings)
    request = model.requests[0]
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("vendor/m", 0.5, 77)
    assert request["reasoning_effort"] == "high"


async def test_other_wire_formats_are_refused(tmp_path: Path) -> None:
    other = Model(name="m", base_url="http://x.invalid", api_type=ApiType.ANTHROPIC_MESSAGES)
    async with run_context(tmp_path, "coding", {}, model=other) as context:
        with pytest.raises(InputError, match="cannot speak anthropic-messages"):
            await get_harness("reference").open(context)


def test_what_an_agent_leaves_is_read_with_care(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"finish_reason": "stop"}')
    result = tmp_path / "result.json"
    result.symlink_to(secret)
    assert read_regular(result) is None
    assert examined(tmp_path).claim() is None
    result.unlink()
    os.mkfifo(result)
    assert read_regular(result) is None
    result.unlink()
    for text in ("[" * 100_000, "[]", '{"turns": -5, "usage": [], "answer": 7, "finish_reason": {}}'):
        result.write_text(text)
        assert examined(tmp_path).outcome is None
        assert not examined(tmp_path).turns


def examined(home: Path) -> Evidence:
    return ReferenceHarness().examine(Leftovers(home, home / "stdout.txt", home / "stderr.txt", None))


async def test_the_end_of_the_browser_ends_the_agent_at_once(tmp_path: Path, model: ScriptedModel) -> None:
    """Also while it waits for a model that takes its time."""
    process, port = start_chromium(tmp_path / "profile")
    model.hold = threading.Event()
    try:
        async with (
            tcp_as_unix(model.port, tmp_path / "gateway.sock") as gateway,
            tcp_as_unix(port, tmp_path / "cdp.sock") as cdp,
            run_context(tmp_path, "web", {GATEWAY: gateway, CDP: cdp}) as context,
        ):
            task = asyncio.create_task(run(context, "wait"))
            assert await asyncio.to_thread(model.asked.wait, 30)
            process.kill()
            async with asyncio.timeout(5):
                result, claim = await task
            model.hold.set()
    finally:
        end_chromium(process)
    assert result == AgentResult(FinishReason.ERROR, 0, "the connection to the browser has ended")
    assert claim is not None
    assert claim.turns == 0
    names = {tool["function"]["name"] for tool in model.requests[0]["tools"]}
    assert {"browser_open", "browser_read", "browser_click", "read", "list", "finish"} <= names
    assert not {"shell", "write", "edit"} & names
