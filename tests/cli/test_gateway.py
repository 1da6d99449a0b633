"""`clawbench gateway`, as a person and as a script use it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawbench.cli.gateway import gateway as gateway_command
from clawbench.errors import InputError
from clawbench.results import read_json_lines

POLICY = """
description: Says hello
price: {input: 3.0, output: 15.0}
rules: [{text: "Hello."}]
"""
APIS = ("openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai")
ASK = {
    "openai-completions": """
import openai
answer = openai.OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
print(answer.choices[0].message.content)""",
    "openai-responses": """
import openai
print(openai.OpenAI().responses.create(model="m", input="Hi").output_text)""",
    "anthropic-messages": """
import anthropic
said = [{"role": "user", "content": "Hi"}]
print(anthropic.Anthropic().messages.create(model="m", max_tokens=9, messages=said).content[0].text)""",
    "google-generative-ai": """
from google import genai
client = genai.Client()
print(client.models.generate_content(model="m", contents="Hi").text)""",
}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    entries = {api: {"base_url": "scripted:policy.yaml", "api_type": api} for api in APIS}
    file = tmp_path / "models.yaml"
    file.write_text(json.dumps(entries))
    return file


@contextlib.contextmanager
def listening(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "clawbench", "gateway", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def _without_proxies() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


@pytest.mark.parametrize("api", APIS)
def test_official_clients_work_with_the_printed_variables(models: Path, tmp_path: Path, api: str) -> None:
    output = tmp_path / "metered"
    with listening("--model", api, "--models", str(models), "--output", str(output)) as (process, begun):
        assert begun["base_urls"][api].startswith("http://127.0.0.1:")
        said = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", ASK[api]],
            env={**_without_proxies(), **begun["environment"]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert said.stdout == "Hello.\n", said.stderr
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")
    totals, ended = (json.loads(line) for line in rest.splitlines())
    assert (totals["event"], totals["measured"]["calls"]) == ("totals", 1)
    assert ended["event"] == "ended"
    assert ended["measured"]["cost_usd"] > 0
    directory = Path(ended["directory"])
    assert directory.parent == output
    assert json.loads((directory / "summary.json").read_text())["measured"] == ended["measured"]
    assert len(list(read_json_lines(directory / "data" / "llm-calls.jsonl"))) == 1
    assert (directory / "data" / "agent-messages.jsonl").stat().st_size > 0


def test_a_cap_refuses_and_the_token_ends_with_it(models: Path, tmp_path: Path) -> None:
    arguments = ["--model", APIS[0], "--models", str(models), "--output", str(tmp_path), "--max-calls", "1"]
    with listening(*arguments) as (process, begun):
        with httpx.Client(trust_env=False, headers={"authorization": f"Bearer {begun['token']}"}) as client:
            url = begun["base_urls"][APIS[0]] + "/chat/completions"
            body = {"messages": [{"role": "user", "content": "Hi"}]}
            assert [client.post(url, json=body).status_code for _ in range(3)] == [200, 402, 402]
            assert httpx.post(url, json=body, trust_env=False).status_code == 401
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=30)
    events = [json.loads(line) for line in rest.splitlines()]
    assert [event["event"] for event in events] == ["totals", "stopped", "ended"]
    assert events[1]["description"] == "all 1 model calls used"
    assert process.returncode == 0


def test_an_outage_hides_no_later_stop(models: Path, tmp_path: Path) -> None:
    """The model cannot be reached for a while, answers again, a cap is reached, the record cannot be kept."""
    (tmp_path / "policy.yaml").write_text(
        POLICY.replace('"Hello."', '"Hello.", fault: {status: 500, times: 5}')
    )
    arguments = ["--model", APIS[0], "--models", str(models), "--output", str(tmp_path), "--max-calls", "6"]
    with listening(*arguments) as (process, begun):
        with httpx.Client(trust_env=False, headers={"authorization": f"Bearer {begun['token']}"}) as client:
            url = begun["base_urls"][APIS[0]] + "/chat/completions"
            body = {"messages": [{"role": "user", "content": "Hi"}]}
            codes = [client.post(url, json=body).status_code for _ in range(8)]
            assert codes == [500] * 5 + [200, 402, 402]
            written = (Path(begun["directory"]) / "data/llm-calls.jsonl").stat().st_size
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (written, written))
            client.post(url, json=body)
        rest, _ = process.communicate(timeout=30)
    stops = [event["reason"] for event in map(json.loads, rest.splitlines()) if event["event"] == "stopped"]
    assert stops == ["model_unreachable", "budget", "error"]
    assert process.returncode == 1


def test_errors_name_what_is_wrong(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CB_ABSENT_KEY", raising=False)
    keyless = {"base_url": "https://api.example.com/v1", "api_type": APIS[0], "api_key": "${CB_ABSENT_KEY}"}
    without_key = tmp_path / "keyless.yaml"
    without_key.write_text(json.dumps({"keyless": keyless}))
    unpriced = tmp_path / "unpriced.yaml"
    unpriced.write_text(json.dumps({"local": {**keyless, "api_key": "none"}}))
    output = tmp_path / "out"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cases: list[tuple[dict[str, Any], str]] = [
            ({"model": APIS[0], "port": port}, f"--port: 127.0.0.1:{port} cannot be listened on"),
            ({"model": APIS[0], "host": "192.0.2.7"}, "--host: 192.0.2.7:0 cannot be listened on"),
            ({"model": "keyless", "models": without_key}, "api_key: environment variable CB_ABSENT_KEY"),
            ({"model": "local", "models": unpriced, "max_cost": 1.0}, "local.price: is unknown"),
            ({"model": "nobody"}, "no model called 'nobody'"),
            ({"model": "scripted:/absent.yaml"}, "/absent.yaml"),
            ({"model": "x", "models": tmp_path / "none.yaml"}, "none.yaml: cannot be read"),
        ]
        for given, message in cases:
            with pytest.raises(InputError, match=re.escape(message)):
                gateway_command(**{"models": models, "output": output, **given})
    assert not list(output.glob("*")), "nothing is left of what did not start"


def test_a_person_sees_a_table(models: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clawbench", "gateway", "--model", APIS[2], "--models", str(models)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "140", "NO_COLOR": "1"}
    with subprocess.Popen(
        [*command, "--output", str(tmp_path)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = _read_until(ours, b"cache write")
        process.send_signal(signal.SIGINT)
        seen += _read_until(ours, b"Record:")
        assert process.wait(30) == 0
    os.close(ours)
    assert b"export ANTHROPIC_BASE_URL=http://127.0.0.1:" in seen
    assert b"0 calls" in seen


def _read_until(fd: int, mark: bytes) -> bytes:
    seen = b""
    while mark not in seen:
        assert select.select([fd], [], [], 30)[0], seen
        seen += os.read(fd, 65536)
    return seen
