"""From inside, nothing of the host is readable, writable or reachable but what was given."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clawbench
from clawbench.results import Isolation
from clawbench.sandbox import Mount

pytestmark = pytest.mark.anyio

READ = """
import json, os, sys
def look(path):
    try:
        return sorted(os.listdir(path)) if os.path.isdir(path) else open(path, errors="replace").read()
    except OSError as error:
        return None
print(json.dumps([look(path) for path in sys.argv[1:]]))
"""
CONNECT = """
import json, socket, sys
def reached(address):
    kind = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(kind) as client:
        client.settimeout(3)
        try:
            client.connect(address)
        except OSError:
            return False
    return True
print(json.dumps([reached(eval(text)) for text in sys.argv[1:]]))
"""


@pytest.fixture
def secret_in_home() -> Iterator[Path]:
    path = Path.home() / f".clawbench-test-secret-{os.getpid()}"
    path.write_text("a secret of the invoker")
    yield path
    path.unlink()


async def test_says_what_it_is(opener: Any) -> None:
    sandbox = opener()
    assert (sandbox.name, sandbox.isolation) == ("bwrap", Isolation.FULL)
    assert sandbox.inside("/my-info/a.txt") == "/my-info/a.txt"
    assert sandbox.free_port(9222) == 9222
    await sandbox.close()


async def test_files_of_the_host_are_not_there(probe: Any, secret_in_home: Path, tmp_path: Path) -> None:
    neighbour = tmp_path / "neighbour.txt"
    neighbour.write_text("another run's file")
    package = Path(clawbench.__file__).parent
    wanted = [secret_in_home, neighbour, package, package.parent.parent, "/etc/shadow", "/etc/resolv.conf"]
    wanted += ["/root/.bashrc", "/var/lib", "/srv", "/mnt", "/opt", "/sys", "/etc/ssl/private"]
    found = await probe(READ, *map(str, wanted))
    assert found == [None] * len(wanted)


async def test_only_the_given_is_listed(probe: Any, secret_in_home: Path) -> None:
    top, homes = await probe(READ, "/", "/home")
    assert homes == ["agent"]
    assert set(top) <= {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "run"} | {
        "sbin",
        "tmp",
        "usr",
        "var",
        *([Path("/", Path.home().parts[1]).name] if str(Path.home()) != "/" else []),
    }


async def test_environment_of_the_invoker_is_nowhere(probe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-planted")
    source = """
import glob, json, os
seen = dict(os.environ)
everyone = b"".join(open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ"))
print(json.dumps([seen, everyone.decode()]))
"""
    own, everyone = await probe(source, env={"TOKEN": "worthless-elsewhere"})
    own.pop("LC_CTYPE", None)  # Python adds it to its own environment
    assert own.keys() == {"HOME", "PATH", "TMPDIR", "LANG", "TOKEN"}
    assert (own["HOME"], own["TMPDIR"], own["TOKEN"]) == ("/home/agent", "/tmp", "worthless-elsewhere")
    assert "sk-planted" not in everyone
    assert str(Path.home()) not in everyone


async def test_command_lines_inside_show_no_host_paths(probe: Any, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    source = """
import glob, json
print(json.dumps([open(path).read() for path in glob.glob("/proc/[0-9]*/cmdline")]))
"""
    lines = await probe(source, mounts=[Mount(tmp_path / "given", "/given")])
    assert len(lines) == 2
    assert not any(str(tmp_path) in line for line in lines)


async def test_processes_of_the_host_are_out_of_sight(probe: Any) -> None:
    source = """
import json, os, sys
ids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
try:
    os.kill(int(sys.argv[1]), 0)
    seen = True
except ProcessLookupError:
    seen = False
print(json.dumps([ids, seen]))
"""
    ids, seen = await probe(source, str(os.getpid()))
    assert max(ids) < 20
    assert not seen or os.getpid() < 20


async def test_no_host_port_no_abstract_socket_no_internet(probe: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as abstract:
        name = f"\0clawbench-test-{os.getpid()}"
        abstract.bind(name)
        abstract.listen()
        addresses = [("127.0.0.1", port.getsockname()[1]), name, ("1.1.1.1", 443), ("169.254.169.254", 80)]
        assert await probe(CONNECT, *map(repr, addresses)) == [False] * len(addresses)
        socket.create_connection(port.getsockname(), timeout=3).close()  # from outside it does answer


async def test_no_names_are_resolved_but_its_own(probe: Any) -> None:
    source = """
import json, socket
def resolve(name):
    try:
        return sorted({row[4][0] for row in socket.getaddrinfo(name, 80)})
    except OSError:
        return None
print(json.dumps([resolve("localhost"), resolve("example.com"), socket.gethostname()]))
"""
    assert await probe(source) == [["127.0.0.1"], None, "sandbox"]


@pytest.mark.parametrize("nested_userns", [False, True])
async def test_system_cannot_be_written(probe: Any, nested_userns: bool) -> None:
    source = """
import json, os, sys
written = []
for path in sys.argv[1:]:
    try:
        with open(path, "a") as file:
            written.append(path)
    except OSError:
        pass
for top, directories, files in os.walk("/proc"):
    directories[:] = [name for name in directories if not name.isdigit()]
    for name in files:
        path = os.path.join(top, name)
        if os.path.realpath(path).startswith(("/proc/self/", f"/proc/{os.getpid()}/")):
            continue
        try:
            os.close(os.open(path, os.O_WRONLY))
            written.append(path)
        except OSError:
            pass
print(json.dumps(written))
"""
    paths = ["/usr/bin/planted", "/etc/passwd", "/etc/planted", "/planted", "/bin/sh", "/usr/lib/os-release"]
    assert await probe(source, *paths, nested_userns=nested_userns) == []


async def test_nested_namespaces_only_where_asked_for_and_without_a_way_out(run_inside: Any) -> None:
    ended, output = await run_inside("unshare", "-Ur", "true")
    assert ended.exit_code != 0, output
    ended, output = await run_inside("unshare", "-Ur", "true", nested_userns=True)
    assert ended.exit_code == 0, output
    attack = "mount -t proc proc /tmp || mount -o remount,rw,bind /usr || mount -t sysfs sysfs /tmp"
    ended, output = await run_inside("unshare", "-Urmpfn", "sh", "-c", attack, nested_userns=True)
    assert ended.exit_code != 0, output


async def test_no_capabilities_and_an_ordinary_user(run_inside: Any) -> None:
    _, output = await run_inside("sh", "-c", "id -u; id -un; grep CapEff /proc/self/status")
    assert output.split() == ["1000", "agent", "CapEff:", "0000000000000000"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="system call numbers of x86-64")
async def test_keys_of_the_invokers_session_are_not_inherited(probe: Any) -> None:
    libc = ctypes.CDLL(None)
    if libc.syscall(248, b"user", b"clawbench-test", b"secret", 6, -3) < 0:
        pytest.skip("this kernel keeps no keys")
    source = """
import ctypes, json
libc = ctypes.CDLL(None)
print(json.dumps(libc.syscall(249, b"user", b"clawbench-test", None, 0)))
"""
    assert libc.syscall(249, b"user", b"clawbench-test", None, 0) > 0
    assert await probe(source) == -1
