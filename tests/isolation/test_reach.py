"""Nothing that grades, records or pays is within the agent's reach: an intruder tries each thing."""

from __future__ import annotations

import asyncio
import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from clawbench.harnesses import CDP_PORT, GATEWAY_PORT
from clawbench.models import ApiType, Model
from clawbench.results import RunDirectory, RunRecord
from clawbench.runner import Progress, RunSpec, open_host, run_task
from clawbench.tasks import CodingTask, Task, WebTask, load_suite
from tests.isolation.harness import IntruderHarness

KEY = "sk-planted-key-that-must-never-be-seen"
SECRET = "planted-host-secret"


@contextmanager
def host_server(directory: Path) -> Iterator[int]:
    """An HTTP server on the host, on all its addresses, that gives out a secret."""
    (directory / "index.html").write_text(SECRET)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(directory))

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def own_addresses() -> list[str]:
    found = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return [*sorted(str(address) for address in found), "127.0.0.1", "10.0.2.2", "169.254.169.254"]


def bundled(kind: str) -> Task:
    return next(
        task for task in load_suite("demo") if isinstance(task, WebTask | CodingTask) and task.kind == kind
    )


def keyed_model() -> Model:
    return Model(
        name="keyed",
        base_url="http://127.0.0.1:9/v1",
        api_type=ApiType.OPENAI_COMPLETIONS,
        api_keys=(SecretStr(KEY),),
    )


def perform(task: Task, harness: IntruderHarness, output: Path) -> tuple[RunDirectory, RunRecord]:
    async def scenario() -> tuple[RunDirectory, RunRecord]:
        spec = RunSpec(task=task, model=keyed_model(), harness=harness, output=output, batch="b")
        async with open_host() as host:
            return await run_task(host, spec, Progress("intruder"))

    return asyncio.run(scenario())


def needles(task: Task) -> dict[str, str]:
    """Words that stand only in what the agent must not see."""
    words = {"key": KEY, "host secret": SECRET}
    if isinstance(task, WebTask):
        words["eval schema"] = task.eval_schema.url_pattern
        words["expect"] = f'"{task.expect[-1].path}"'
    else:
        added = [
            line[1:].strip() for line in task.patch.splitlines() if line.startswith("+") and line[1:2] != "+"
        ]
        tests = [line[1:].strip() for line in task.test_patch.splitlines() if line.startswith("+    def ")]
        words["gold fix"] = max(added, key=len)
        words["deciding test"] = tests[0]
        words["test list"] = "FAIL_TO_PASS"
    return words


def targets(task: Task, tmp_path: Path, port: int) -> dict[str, Any]:
    import clawbench

    package = Path(clawbench.__file__).parent
    return {
        "needles": needles(task),
        "paths": [
            str(task.directory),
            str(package),
            str(package.parent.parent),
            str(tmp_path),
            str(Path.home() / ".ssh"),
        ],
        "addresses": [[address, port] for address in own_addresses()] + [["1.1.1.1", 443], ["::1", port]],
        "sockets": [
            f"@clawbench-test-{port}",
            "/tmp/.X11-unix/X0",
            "/run/docker.sock",
            "/var/run/docker.sock",
        ],
        "directories": ["/usr", "/etc", "/opt", "/my-info", "/"],
    }


@contextmanager
def abstract_socket(name: str) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()
        yield


@pytest.mark.parametrize("kind", ["web", "coding"])
def test_an_intruder_in_the_sandbox_finds_nothing(kind: str, tmp_path: Path) -> None:
    task = bundled(kind)
    secret = tmp_path / "secret"
    secret.mkdir()
    with host_server(secret) as port, abstract_socket(f"clawbench-test-{port}"):
        harness = IntruderHarness("intruder.py", targets(task, tmp_path, port), "findings.json")
        run, record = perform(task, harness, tmp_path / "runs")
    assert record.error is None, record.error
    found = harness.found
    assert found is not None, (run.harness / "stderr.txt").read_text()
    assert found["files"] == {name: [] for name in found["files"]}
    assert found["processes"] == {name: [] for name in found["processes"]}
    for what in ("paths", "hosts", "sockets", "names", "gateway"):
        assert found[what] == [], what
    assert found["writable"] == []
    assert found["ports"] == ([GATEWAY_PORT, CDP_PORT] if kind == "web" else [GATEWAY_PORT])
    assert_key_nowhere(run)


def test_an_intruder_in_the_browser_finds_nothing(tmp_path: Path) -> None:
    task = bundled("web")
    secret = tmp_path / "secret"
    secret.mkdir()
    (tmp_path / "note.txt").write_text(SECRET)
    with host_server(secret) as port:
        aims = {
            "secret": SECRET,
            "urls": [
                "file:///etc/passwd",
                f"file://{tmp_path}/note.txt",
                "view-source:file:///etc/passwd",
                "chrome://version",
                "chrome://settings",
                "devtools://devtools/bundled/inspector.html",
            ],
            "fetch": [
                f"http://{address}:{port}/" for address in (*own_addresses(), "localhost", "[::1]", "0.0.0.0")
            ],
            "upload": ["/etc/passwd", f"{tmp_path}/note.txt", "/my-info/../etc/passwd"],
        }
        harness = IntruderHarness("cdp_intruder.py", aims, "cdp.json")
        run, record = perform(task, harness, tmp_path / "runs")
    assert record.error is None, record.error
    found = harness.found
    assert found is not None, (run.harness / "stderr.txt").read_text()
    assert int(found.pop("_alive")) > 1000, "the browser must still work after all refusals"
    assert {name: got for name, got in found.items() if got} == {}
    assert len(found) > 30
    assert "refused" in run.relay_log.read_text()
    assert_key_nowhere(run)


def assert_key_nowhere(run: RunDirectory) -> None:
    for path in run.path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
