"""Starting a program: descriptors, directory, output, and clear words when it cannot start."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError, MissingPartError, SandboxError
from clawbench.sandbox import Command, Limits, Mount, open_sandbox
from clawbench.sandbox.interpreter import base_interpreter

pytestmark = pytest.mark.anyio
PYTHON = str(base_interpreter())


async def test_exit_codes_and_signals(run_inside: Any, provider: str) -> None:
    ended, _ = await run_inside("sh", "-c", "exit 7", provider=provider)
    assert (ended.exit_code, ended.limit) == (7, None)
    ended, _ = await run_inside("sh", "-c", "kill -TERM $$", provider=provider)
    assert (ended.exit_code, ended.limit) == (-15, None)


async def test_program_that_is_not_there(run_inside: Any, provider: str) -> None:
    with pytest.raises(SandboxError, match=r"'no-such-program' is not on PATH"):
        await run_inside("no-such-program", provider=provider)
    with pytest.raises(SandboxError, match=r"'/no/such/program' is not there"):
        await run_inside("/no/such/program", provider=provider)


async def test_program_that_may_not_run_and_directory_that_is_not_there(
    run_inside: Any, provider: str
) -> None:
    with pytest.raises(SandboxError, match="Permission denied"):
        await run_inside("/etc/passwd", provider=provider)
    with pytest.raises(SandboxError, match="/no/such/directory"):
        await run_inside("true", provider=provider, cwd="/no/such/directory")


async def test_mount_that_is_not_there(run_inside: Any, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"could not build the sandbox.*missing.*Check that every mounted"):
        await run_inside("true", mounts=[Mount(tmp_path / "missing", "/given")])


async def test_failed_starts_leave_no_descriptor(opener: Any, provider: str) -> None:
    sandbox = opener(provider)
    for argv in (["no-such-program"], ["true"]):  # the first start opens what stays open, such as epoll
        await _start_and_forget(sandbox, argv)
    before = _open_descriptors()
    for argv in (["no-such-program"], ["true"]):
        await _start_and_forget(sandbox, argv)
    assert _open_descriptors() == before
    await sandbox.close()


async def _start_and_forget(sandbox: Any, argv: list[str]) -> None:
    with contextlib.suppress(SandboxError):
        await (await sandbox.start(Command(argv, listen={"a": sandbox.free_port(18787)}))).wait()
    gc.collect()


def _open_descriptors() -> dict[str, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
    return found


async def test_program_gets_its_descriptors_and_no_other(opener: Any, provider: str, tmp_path: Path) -> None:
    sandbox = opener(provider)
    stray = os.open(tmp_path / "stray", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(stray, True)
    incoming, ours = os.pipe()
    answers, outgoing = os.pipe()
    source = (
        "import os; os.write(4, os.read(3, 100).upper() + str(sorted(os.listdir('/proc/self/fd'))).encode())"
    )
    command = Command(
        [PYTHON, "-I", "-c", source], keep_fds=[incoming, outgoing], listen={"a": sandbox.free_port(18788)}
    )
    process = await sandbox.start(command)
    for descriptor in (incoming, outgoing):
        os.close(descriptor)
    os.write(ours, b"hello ")
    assert (await process.wait()).exit_code == 0
    # The highest is that of the listing itself.
    assert os.read(answers, 1000) == b"HELLO ['0', '1', '2', '3', '4', '5']"
    for descriptor in (ours, answers, stray):
        os.close(descriptor)
    await sandbox.close()


async def test_input_is_empty_and_output_is_appended(opener: Any, provider: str, tmp_path: Path) -> None:
    sandbox = opener(provider)
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_text("before\n")
    process = await sandbox.start(
        Command(["sh", "-c", "cat; echo out; echo err >&2; pwd"], stdout=out, stderr=err)
    )
    assert (await process.wait()).exit_code == 0
    assert out.read_text() == f"before\nout\n{sandbox.inside('/home/agent')}\n"
    assert err.read_text() == "err\n"
    await sandbox.close()


async def test_long_arguments_and_environment_arrive(run_inside: Any, provider: str) -> None:
    prompt = "wörd\n" * 20_000
    source = 'printf %s "$0$LONG" | wc -c'
    ended, output = await run_inside("sh", "-c", source, prompt, env={"LONG": prompt}, provider=provider)
    assert (ended.exit_code, int(output)) == (0, 2 * len(prompt.encode()))


async def test_home_and_mounts(opener: Any, provider: str, tmp_path: Path) -> None:
    given, kept = tmp_path / "given", tmp_path / "kept"
    given.mkdir()
    kept.mkdir()
    (given / "task.txt").write_text("the task")
    sandbox = opener(provider, mounts=[Mount(given, "/given")])
    sandbox.mount(Mount(kept, "/kept", writable=True))
    (sandbox.home / "config").write_text("configured")
    script = 'cat "$1/task.txt" "$HOME/config" > "$2/copy"; echo x > "$1/planted"; echo y > "$HOME/made"'
    argv = ["sh", "-c", script, "sh", sandbox.inside("/given"), sandbox.inside("/kept")]
    process = await sandbox.start(Command(argv))
    await process.wait()
    assert (kept / "copy").read_text() == "the taskconfigured"
    assert (sandbox.home / "made").read_text() == "y\n"
    assert (given / "planted").exists() == (provider == "none")
    await sandbox.close()
    assert not sandbox.home.exists()
    assert (kept / "copy").exists()


async def test_close_removes_what_the_program_locked(opener: Any, provider: str) -> None:
    sandbox = opener(provider)
    process = await sandbox.start(
        Command(["sh", "-c", "mkdir -p a/b; touch a/b/c; chmod 0 a/b a; chmod 500 ."])
    )
    assert (await process.wait()).exit_code == 0
    await sandbox.close()
    assert not sandbox.home.exists()


async def test_close_removes_a_bottomless_directory(opener: Any) -> None:
    sandbox = opener()
    source = "import os\nfor _ in range(1200):\n    os.mkdir('deeper')\n    os.chdir('deeper')"
    process = await sandbox.start(Command([PYTHON, "-c", source]))
    assert (await process.wait()).exit_code == 0
    await sandbox.close()
    assert not sandbox.home.exists()


async def test_output_of_both_kinds_keeps_its_order_and_is_complete(run_inside: Any, provider: str) -> None:
    script = "for i in $(seq 500); do echo out $i; echo err $i >&2; done"
    _, output = await run_inside("sh", "-c", script, provider=provider)
    assert output.splitlines() == [f"{kind} {i}" for i in range(1, 501) for kind in ("out", "err")]


async def test_program_does_not_hold_the_file_it_writes_to(run_inside: Any) -> None:
    _, output = await run_inside("readlink", "/proc/self/fd/1", "/proc/self/fd/2", "/proc/self/fd/0")
    assert [line.split(":")[0] for line in output.splitlines()] == ["pipe", "pipe", "/dev/null"]


async def test_many_at_once(opener: Any, provider: str) -> None:
    sandbox = opener(provider)

    async def one(number: int) -> int:
        process = await sandbox.start(Command(["sh", "-c", f"exit {number}"]))
        return (await process.wait()).exit_code

    assert await asyncio.gather(*map(one, range(12))) == list(range(12))
    await sandbox.close()


async def test_cancelled_start_leaves_nothing(opener: Any, provider: str) -> None:
    sandbox = opener(provider)
    marker = f"{os.getpid()}.5"
    for pause in (0, 0.002, 0.02, 0.04):
        task = asyncio.create_task(sandbox.start(Command(["sleep", marker])))
        await asyncio.sleep(pause)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await sandbox.close()
    assert _running_with(marker) == []


def _running_with(argument: str) -> list[str]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path("/proc", name, "cmdline").read_text().split("\0")
        except OSError:
            continue
        if argument in command:
            found.append(name)
    return found


def test_unknown_provider_names_the_choices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'chroot'.*bwrap, none"):
        open_sandbox("chroot", home=tmp_path)


def test_missing_bubblewrap_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPartError, match="apt-get install bubblewrap"):
        open_sandbox("bwrap", home=tmp_path)


def test_default_limits_leave_the_time_to_the_runner() -> None:
    assert Limits().time_s is None
