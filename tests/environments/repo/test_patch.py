"""The patch is what changed, byte for byte: it applies to the base and gives the same tree again."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from clawbench.environments.repo import Patch, Workspace, take_patch
from tests.environments.repo.repositories import Repo

CRLF = b"one\r\ntwo\r\nthree\r\n"
Edit = Callable[[Repo], None]


def fill(repo: Repo) -> None:
    repo.write("code.py", "def f():\n    return 1\n")
    repo.write("lib/setup.py", "x = 1\n" * 30)
    repo.write("my binary notes.txt", "text about a binary\n")
    repo.write("dos.txt", CRLF)
    repo.write("latin1.txt", b"caf\xe9\n")
    repo.write("data.bin", bytes(range(256)) * 8)
    repo.write("no newline at end", "x")
    repo.write("trailing.txt", "x  \n\n\n")
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    repo.write("build/rules.mk", "all:\n")
    repo.write("package-lock.json", "{}\n")
    repo.write("ignored.log", "tracked although ignored\n")
    repo.write(".gitignore", "*.log\n*.tmp\n")
    repo.write("dir/a", "a\n")
    repo.write("dir/b", "b\n")
    (repo.path / "link").symlink_to("code.py")


@pytest.fixture
def base(new_repo: Callable[[str], Repo]) -> Repo:
    repo = new_repo("source")
    fill(repo)
    repo.git("add", "-A", "-f")
    repo.commit("Base")
    return repo


@pytest.fixture
def take(base: Repo, prepare: Callable[..., Workspace]) -> Callable[..., tuple[Patch, Repo]]:
    def act(edit: Edit, **fields: object) -> tuple[Patch, Repo]:
        workspace = prepare(base.path, base.git("rev-parse", "HEAD"), **fields)
        edit(Repo(workspace.path))
        return anyio.run(take_patch, workspace), Repo(workspace.path)

    return act


def contents(directory: Path) -> dict[bytes, tuple[str, bytes]]:
    """Every file below, with its kind and bytes, as another program would see it."""
    found = {}
    root = os.fsencode(directory)
    for parent, directories, names in os.walk(root):
        if parent == root:
            directories[:] = [name for name in directories if name != b".git"]
        for name in names + [d for d in directories if os.path.islink(os.path.join(parent, d))]:
            path = os.path.join(parent, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = ("link", os.readlink(path))
            else:
                kind = "program" if os.stat(path).st_mode & 0o100 else "file"
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = (kind, file.read())
    return found


def apply(base: Repo, patch: bytes) -> dict[bytes, tuple[str, bytes]]:
    """Apply with plain `git apply` in a plain clone, as anybody would."""
    clone = Repo(base.path.parent / "clone")
    base.git("clone", "-q", str(base.path), str(clone.path))
    if patch:
        clone.git("apply", "--whitespace=nowarn", "-", stdin=patch)
    return contents(clone.path)


def append(name: str, data: bytes) -> Edit:
    return lambda repo: (repo.path / name).write_bytes((repo.path / name).read_bytes() + data) and None


def edit_type_changes(repo: Repo) -> None:
    (repo.path / "link").unlink()
    repo.write("link", "a file now\n")
    (repo.path / "code.py").unlink()
    (repo.path / "code.py").symlink_to("dir/a")


def edit_file_to_directory(repo: Repo) -> None:
    (repo.path / "code.py").unlink()
    repo.write("code.py/inner", "x\n")


def edit_directory_to_file(repo: Repo) -> None:
    for name in ("dir/a", "dir/b"):
        (repo.path / name).unlink()
    (repo.path / "dir").rmdir()
    repo.write("dir", "a file now\n")


def edit_directory_to_link(repo: Repo) -> None:
    (repo.path / "dir").rename(repo.path / "moved")
    (repo.path / "dir").symlink_to("moved")


def edit_odd_names(repo: Repo) -> None:
    for name in (
        "with space",
        'with "quotes"',
        "with\nnewline",
        "tab\there",
        "-dash",
        "ünï/cødé",
        "back\\slash",
    ):
        repo.write(name, f"{name}\n")
    with open(os.path.join(os.fsencode(repo.path), b"not-utf8-\xff"), "wb") as file:
        file.write(b"x\n")


def edit_committed(repo: Repo) -> None:
    repo.write("code.py", "def f():\n    return 2\n")
    repo.commit("Mine")
    repo.write("new.py", "staged\n")
    repo.git("add", "new.py")
    repo.write("other.py", "untracked\n")


def edit_on_other_branch(repo: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "elsewhere")
    repo.write("code.py", "changed\n")
    repo.commit("New root")


def edit_without_git(repo: Repo) -> None:
    (repo.path / ".git").rename(repo.path.parent / "gone")
    repo.write("code.py", "changed\n")


def delete_all(repo: Repo) -> None:
    for path in repo.path.rglob("*"):
        if ".git" not in path.parts and not path.is_dir() and path.name != "package-lock.json":
            path.unlink()


EDITS: dict[str, Edit] = {
    "nothing": lambda repo: None,
    "modified": append("code.py", b"# more\n"),
    "new": lambda repo: repo.write("new/deep/file.py", "x\n") and None,
    "new empty": lambda repo: repo.write("empty", b"") and None,
    "deleted": lambda repo: (repo.path / "code.py").unlink(),
    "deleted all": delete_all,
    "pure rename": lambda repo: (repo.path / "lib/setup.py").rename(repo.path / "lib/renamed.py") and None,
    "mode": lambda repo: (repo.path / "code.py").chmod(0o755),
    "mode back": lambda repo: (repo.path / "run.sh").chmod(0o644),
    "symlink": lambda repo: (repo.path / "new-link").symlink_to("/etc/passwd"),
    "crlf": append("dos.txt", b"four\r\n"),
    "lf in crlf": append("dos.txt", b"four\n"),
    "not utf-8": append("latin1.txt", b"\xff\xfe\n"),
    "binary": append("data.bin", b"\0\1\2"),
    "new binary": lambda repo: repo.write("image.png", b"\x89PNG\0" + bytes(500)) and None,
    "path with binary": append("my binary notes.txt", b"more\n"),
    "lib setup.py": append("lib/setup.py", b"y = 2\n"),
    "no newline": append("no newline at end", b"y"),
    "newline added": append("no newline at end", b"\n"),
    "trailing blanks": append("trailing.txt", b"   \n \n\n"),
    "tracked though ignored": append("ignored.log", b"more\n"),
    "tracked build file": append("build/rules.mk", b"test:\n"),
    "new beside tracked build file": lambda repo: repo.write("build/more.mk", "x\n") and None,
    "type changes": edit_type_changes,
    "file to directory": edit_file_to_directory,
    "directory to file": edit_directory_to_file,
    "directory to link": edit_directory_to_link,
    "odd names": edit_odd_names,
    "committed, staged, untracked": edit_committed,
    "other branch": edit_on_other_branch,
    "no git at all": edit_without_git,
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_round_trip(name: str, base: Repo, take: Callable[..., tuple[Patch, Repo]]) -> None:
    patch, inside = take(EDITS[name])
    assert patch.raw == patch.cleaned
    assert patch.dropped == ()
    assert (patch.raw == b"") == (name == "nothing")
    assert apply(base, patch.cleaned) == contents(inside.path)


def test_rename_is_shown_as_one(take: Callable[..., tuple[Patch, Repo]]) -> None:
    patch, _ = take(EDITS["pure rename"])
    assert b"similarity index 100%\nrename from lib/setup.py\nrename to lib/renamed.py\n" in patch.cleaned


def random_edits(repo: Repo, chance: random.Random) -> None:
    files = [path for path in sorted(repo.path.rglob("*")) if ".git" not in path.parts and not path.is_dir()]
    for path in chance.sample(files, 6):
        kind = chance.choice(["delete", "bytes", "mode", "move", "link"])
        if kind == "bytes" and not path.is_symlink():
            path.write_bytes(bytes(chance.choices(b"ab\n\r\0\xff \t", k=chance.randrange(200))))
        elif kind == "mode" and not path.is_symlink():
            path.chmod(chance.choice([0o755, 0o644]))
        elif kind == "move":
            path.rename(path.with_name(f"moved {chance.randrange(10**6)}"))
        else:
            path.unlink()
            if kind == "link":
                path.symlink_to(chance.choice(["x", "../..", "dir"]))
    for _ in range(8):
        name = "".join(chance.choices("ab é\"'\n\\*?[", k=chance.randrange(1, 8))).strip() or "x"
        target = repo.path / chance.choice(["", "new", "dir", "deep/er"]) / f"n{name}"
        if not os.path.lexists(target) and not target.parent.is_symlink():
            repo.write(str(target.relative_to(repo.path)), bytes(chance.choices(b"ab\n\r\0\xff", k=50)))


@pytest.mark.parametrize("seed", range(12))
def test_random_edits_round_trip(seed: int, base: Repo, take: Callable[..., tuple[Patch, Repo]]) -> None:
    patch, inside = take(lambda repo: random_edits(repo, random.Random(seed)))
    assert apply(base, patch.raw) == contents(inside.path)


def litter(repo: Repo) -> None:
    repo.write("code.py", "def f():\n    return 2\n")
    repo.write("package-lock.json", '{"changed": 1}\n')
    repo.write("sub/yarn.lock", "x\n")
    repo.write("pkg/__pycache__/m.cpython-311.pyc", b"\0\1")
    repo.write(".venv/lib/x.py", "x\n")
    repo.write("dist/app.js", "x\n")
    repo.write("x.egg-info/PKG-INFO", "x\n")
    repo.write("code.py.orig", "x\n")
    repo.write("code.py~", "x\n")
    repo.write(".code.py.swp", b"\0x")
    repo.write("a.out", b"\x7fELF\0\0").chmod(0o755)
    repo.write("module.so", b"\x7fELF\0")
    repo.write("src/distance.py", "kept\n")
    repo.write("cached_property.py", "kept\n")
    repo.write("tests/test_hidden.py", "overwritten anyway\n")


def test_cleaning_drops_litter_and_says_why(base: Repo, take: Callable[..., tuple[Patch, Repo]]) -> None:
    test_patch = (
        "diff --git a/tests/test_hidden.py b/tests/test_hidden.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/tests/test_hidden.py\n@@ -0,0 +1 @@\n+real\n"
    )
    patch, inside = take(litter, test_patch=test_patch)
    assert apply(base, patch.raw) == contents(inside.path)
    (base.path.parent / "clone").rename(base.path.parent / "clone of raw")
    before, after = contents(base.path), apply(base, patch.cleaned)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {b"code.py", b"src/distance.py", b"cached_property.py"}
    assert {entry.path: entry.why for entry in patch.dropped} == {
        "package-lock.json": "lock file",
        "sub/yarn.lock": "lock file",
        "pkg/__pycache__/m.cpython-311.pyc": "cache",
        ".venv/lib/x.py": "virtual environment",
        "dist/app.js": "build output",
        "x.egg-info/PKG-INFO": "cache",
        "code.py.orig": "editor or patch leftover",
        "code.py~": "editor or patch leftover",
        ".code.py.swp": "editor or patch leftover",
        "a.out": "compiled program",
        "module.so": "compiled file",
        "tests/test_hidden.py": "test file that scoring replaces",
    }


def test_what_is_left_out_is_reported(take: Callable[..., tuple[Patch, Repo]]) -> None:
    def edit(repo: Repo) -> None:
        repo.write("scratch.tmp", "ignored\n")
        repo.git("init", "-q", "nested")
        repo.write("nested/x", "x\n")
        with repo.write("huge", b"").open("wb") as file:
            file.truncate(51 * 1024 * 1024)
        os.mkfifo(repo.path / "pipe")

    patch, _ = take(edit)
    assert patch.raw == b""
    notices = "\n".join(patch.notices)
    assert "special file removed: pipe" in notices
    assert "repository inside the repository, not followed: nested/" in notices
    assert "new file over 50 MB, left out: huge" in notices
    assert "scratch.tmp" in notices


def test_line_ending_attributes_make_no_noise(
    new_repo: Callable[[str], Repo], prepare: Callable[..., Workspace]
) -> None:
    """CRLF blobs under `text` look changed as soon as git looks; only real changes may count."""
    repo = new_repo("source")
    repo.write("a.txt", CRLF)
    repo.write("b.txt", CRLF)
    repo.commit("Before the attributes")
    repo.write(".gitattributes", "*.txt text\n*.bat eol=crlf\n")
    repo.write("c.bat", "x\r\n")
    repo.git("update-index", "--add", ".gitattributes", "c.bat")
    repo.git("commit", "-q", "-m", "Attributes")
    workspace = prepare(repo.path, repo.git("rev-parse", "HEAD"))
    assert (workspace.path / "c.bat").read_bytes() == b"x\r\n"
    assert anyio.run(take_patch, workspace).raw == b""
    (workspace.path / "a.txt").write_bytes(CRLF + b"four\r\n")
    patch = anyio.run(take_patch, workspace)
    assert b"a.txt" in patch.raw
    assert b"b.txt" not in patch.raw
    assert b"c.bat" not in patch.raw
