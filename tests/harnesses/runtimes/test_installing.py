"""Parts are installed for real, without a network: from wheels, an npm registry on loopback, a git mirror."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clawbench.errors import InputError, MissingPartError
from clawbench.harnesses.runtimes import NODE, CargoPart, NpmPart, PythonPart, SourcePart, find_runtime
from clawbench.harnesses.runtimes.installed import part_directory, read_part
from clawbench.harnesses.runtimes.installing import Done, Installer, changes
from clawbench.harnesses.runtimes.manifest import read_manifest
from clawbench.harnesses.runtimes.parts import InterpreterPart
from clawbench.harnesses.runtimes.tooling import InstallError, Sources
from clawbench.places import cache_directory
from clawbench.sandbox import Command, Limits, Root, open_sandbox
from tests.harnesses.runtimes.packages import npm_registry, write_wheel

ONE = PythonPart("one", "one", "1.0", beside=("two==2.0",))


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with a Python to carry along, copied once."""
    cache = tmp_path_factory.mktemp("carried")
    Installer(cache).interpreter(">=3.11")
    return cache


@pytest.fixture
def cache(tmp_path: Path, carried: Path) -> Path:
    (tmp_path / "cache/runtimes").mkdir(parents=True)
    for part in (carried / "runtimes").glob("python-*"):
        (tmp_path / "cache/runtimes" / part.name).symlink_to(part)
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path) -> Sources:
    house = tmp_path / "wheelhouse"
    write_wheel(house, "one", "1.0", needs=("three>=3",))
    write_wheel(house, "two", "2.0")
    write_wheel(house, "three", "3.1")
    return Sources(wheelhouse=house)


def test_python_packages_from_a_wheelhouse(cache: Path, wheels: Sources) -> None:
    said: list[str] = []
    assert Installer(cache, wheels, said.append).install(ONE) is Done.INSTALLED
    directory = part_directory(cache, ONE)
    manifest = read_manifest(directory)
    assert manifest is not None
    assert (manifest.kind, manifest.requested, manifest.locked) == ("python", "one==1.0", False)
    assert list(manifest.packages) == ["one==1.0", "three==3.1", "two==2.0"]
    assert said
    told = subprocess.run([directory / "venv/bin/one"], capture_output=True, text=True, check=True)
    assert told.stdout == "one 1.0\n"


def test_the_runtime_mounts_the_interpreter_too(cache: Path, wheels: Sources) -> None:
    with pytest.raises(MissingPartError, match="harness install one"):
        find_runtime("one", [ONE], cache)
    Installer(cache, wheels).install(ONE)
    shown = [mount.target for mount in find_runtime("one", [ONE], cache).mounts]
    assert [Path(target).name.partition("-")[0] for target in shown] == ["one", "python"]


def test_the_same_packages_give_the_same_hash(cache: Path, wheels: Sources) -> None:
    installer = Installer(cache, wheels)
    installer.install(ONE)
    first = read_part(part_directory(cache, ONE))
    assert installer.install(ONE) is Done.INTACT
    assert installer.install(ONE, force=True) is Done.INSTALLED
    second = read_part(part_directory(cache, ONE))
    assert first is not None
    assert first == second


def test_a_damaged_part_is_named_and_made_anew(cache: Path, wheels: Sources) -> None:
    installer = Installer(cache, wheels)
    installer.install(ONE)
    directory = part_directory(cache, ONE)
    module = next(directory.glob("venv/lib/*/site-packages/two.py"))
    module.write_text("raise SystemExit\n")
    manifest = read_manifest(directory)
    assert manifest is not None
    assert changes(directory, manifest) == [f"{module.relative_to(directory)} was changed"]
    assert installer.install(ONE) is Done.RENEWED
    assert changes(directory, manifest) == []


def test_what_is_not_there_leaves_nothing_behind(cache: Path, wheels: Sources) -> None:
    missing = PythonPart("four", "four", "4.0")
    with pytest.raises(InstallError, match=r"four==4\.0[\s\S]*pip download"):
        Installer(cache, wheels).install(missing)
    assert not part_directory(cache, missing).exists()
    assert read_part(part_directory(cache, missing)) is None


def test_an_installation_that_was_killed_does_not_count(cache: Path, wheels: Sources) -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def install() -> None:
        def stop_in_the_middle(step: str) -> None:
            if step == "recording what was installed":
                ready.set()
                signal.pause()

        Installer(cache, wheels, stop_in_the_middle).install(ONE)

    process = context.Process(target=install)
    process.start()
    assert ready.wait(60)
    process.kill()
    process.join()
    assert (part_directory(cache, ONE) / "venv").is_dir()
    assert read_part(part_directory(cache, ONE)) is None
    assert Installer(cache, wheels).install(ONE) is Done.INSTALLED


def test_two_installers_do_not_collide(cache: Path, wheels: Sources) -> None:
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()

    def install() -> None:
        results.put(Installer(cache, wheels).install(ONE).value)

    processes = [context.Process(target=install) for _ in range(2)]
    for process in processes:
        process.start()
    found = sorted(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    assert found == sorted([Done.INSTALLED.value, Done.INTACT.value])


@pytest.fixture
def with_node(cache: Path) -> Path:
    node = part_directory(cache_directory(), NODE)
    if read_part(node) is None:
        pytest.skip(f"Node {NODE.version} is not in the cache: `clawbench harness install claude-code`")
    (cache / "runtimes" / node.name).symlink_to(node)
    return cache


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    big: dict[str, object] = {
        "name": "big",
        "version": "1.2.3",
        "dependencies": {"small": "^1.0.0"},
        "scripts": {"postinstall": "touch ran-a-script"},
    }
    server = npm_registry({"big": big, "small": {"name": "small", "version": "1.0.7"}})
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    with server as address:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
        yield


def test_npm_packages_online_and_from_a_cache(
    with_node: Path, tmp_path: Path, registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, kept = NpmPart("big", "big", "1.2.3"), tmp_path / "npm"
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(kept))
    assert Installer(with_node).install(part) is Done.INSTALLED
    directory = part_directory(with_node, part)
    online = read_manifest(directory)
    assert online is not None
    assert list(online.packages) == ["big==1.2.3", "small==1.0.7"]
    assert not list(directory.rglob("ran-a-script"))
    named = os.environ["NPM_CONFIG_REGISTRY"].encode()
    assert not [path for path in directory.rglob("*") if path.is_file() and named in path.read_bytes()]

    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:1/")
    with pytest.raises(InstallError, match="--npm-cache"):
        Installer(with_node).install(part, force=True)
    assert read_part(directory) is None


def test_npm_packages_without_a_network(
    with_node: Path, tmp_path: Path, registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, kept = NpmPart("big", "big", "1.2.3"), tmp_path / "npm"
    with pytest.raises(InstallError, match="Fill the cache"):
        Installer(with_node, Sources(npm_cache=kept)).install(part)
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(kept))
    Installer(with_node).install(part)
    assert Installer(with_node, Sources(npm_cache=kept)).install(part, force=True) is Done.INSTALLED


def test_an_unknown_version_says_so(with_node: Path, registry: None) -> None:
    with pytest.raises(InstallError, match=r"9\.9\.9[\s\S]*Is the version right"):
        Installer(with_node).install(NpmPart("big", "big", "9.9.9"))


def test_source_from_a_mirror_and_from_a_tree(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "mirrors/owner+tool"
    repository.mkdir(parents=True)
    (repository / "main.py").write_text("print('first')\n")
    commit = _commit(repository)
    (repository / "main.py").write_text("print('second')\n")
    _commit(repository)
    part = SourcePart("tool", "owner/tool", commit)
    program = part_directory(cache, part) / "source/main.py"

    monkeypatch.setenv("CLAWBENCH_MIRROR", str(repository.parent))
    Installer(cache).install(part)
    assert program.read_text() == "print('first')\n"
    assert not (program.parent / ".git").exists()

    monkeypatch.delenv("CLAWBENCH_MIRROR")
    Installer(cache, Sources(source=repository)).install(part, force=True)
    assert program.read_text() == "print('first')\n"

    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.py").write_text("print('a tree')\n")
    Installer(cache, Sources(source=tree)).install(part, force=True)
    assert program.read_text() == "print('a tree')\n"
    manifest = read_manifest(part_directory(cache, part))
    assert manifest is not None
    assert manifest.packages[0] == "owner/tool==tree"

    with pytest.raises(InputError, match="no directory"):
        Installer(cache, Sources(source=tmp_path / "nowhere")).install(part, force=True)


def test_without_cargo_the_remedy_is_rust(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPartError, match="rustup"):
        Installer(cache).install(CargoPart("crab", "crab", "1.0.0", "crab"))


def test_a_python_that_the_machine_has_not_got(cache: Path, wheels: Sources) -> None:
    with pytest.raises(MissingPartError, match="Install one"):
        Installer(cache, wheels).install(PythonPart("one", "one", "1.0", python="==3.1"))


async def test_the_carried_python_needs_nothing_of_its_root(carried: Path, tmp_path: Path) -> None:
    """An empty distribution: no libraries, no loader, no Python. The launcher itself runs in it, too."""
    for name in ("usr/bin", "etc", "home", "root", "var/tmp"):
        (tmp_path / "tree" / name).mkdir(parents=True)
    (tmp_path / "tree/etc/shadow").write_text("secret")
    (tmp_path / "tree/etc/issue").write_text("An empty distribution")
    (tmp_path / "tree/bin").symlink_to("usr/bin")
    (python,) = (carried / "runtimes").glob("python-*/bin/python3.*")
    home, output = tmp_path / "home", tmp_path / "output.txt"
    home.mkdir()
    sandbox = open_sandbox("bwrap", home=home, root=Root(tmp_path / "tree", python))
    look = (
        "import os, ssl, sqlite3, sys; open('/home/agent/x', 'w').close(); open('/var/tmp/y', 'w').close()\n"
        "print(sorted(os.listdir('/')), sorted(os.listdir('/etc')), os.readlink('/bin'), os.listdir('/bin'))"
    )
    command = Command([sandbox.python, "-c", look], stdout=output, stderr=output, limits=Limits(time_s=30))
    try:
        ended = await (await sandbox.start(command)).wait()
    finally:
        await sandbox.close()
    assert ended.exit_code == 0, output.read_text()
    top = sorted({"bin", "dev", "etc", "home", "proc", "root", "run", "tmp", "usr", "var", carried.parts[1]})
    files = ["group", "hosts", "issue", "nsswitch.conf", "passwd"]
    assert output.read_text() == f"{top} {files} usr/bin []\n"


def test_the_interpreter_is_a_part_like_others(carried: Path) -> None:
    (directory,) = (carried / "runtimes").glob("python-*")
    part = InterpreterPart(directory.name.removeprefix("python-"))
    assert Installer(carried).install(part) is Done.INTACT


def _commit(repository: Path) -> str:
    def git(*words: str) -> str:
        options = ("-c", "user.name=Alex Green", "-c", "user.email=alex@example.org")
        command = ["git", "-C", str(repository), *options, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "a state")
    return git("rev-parse", "HEAD")
