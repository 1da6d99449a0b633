"""A sandbox with few commands has these and no other program of the system."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, WEB_COMMANDS
from clawbench.sandbox.commands import find_command, only_commands

INTRUDER = """
import json, os, stat, subprocess, sys
commands, programs, written = [], [], []
for place in os.environ["PATH"].split(":"):
    commands += os.listdir(place) if os.path.isdir(place) else []
for top in ("/usr", "/opt", "/etc", "/home", "/tmp", "/run"):
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and ".so" not in name:
                with open(path, "rb") as file:
                    programs += [path] if file.read(4) == b"\\x7fELF" else []
for place in ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"):
    try:
        with open(f"{place}/mine", "w") as file:
            written.append(place)
    except OSError:
        pass
def run(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True).stdout
    except OSError as error:
        return str(error.strerror)
ran = {name: run(*line) for name, line in json.loads(sys.argv[1]).items()}
print(json.dumps([sorted(set(commands)), sorted(programs), written, ran]))
"""
LINES = {
    "sh": ["/bin/sh", "-c", "cat /etc/passwd | grep agent | cut -d: -f1 | tr a-z A-Z"],
    "env": ["/usr/bin/env", "sh", "-c", "ls /usr/bin | sort | uniq | head -1 | wc -l"],
    "git": ["git", "--version"],
    "perl": ["perl", "-e", "print 1"],
    "curl": ["/usr/bin/curl", "--version"],
}


@pytest.mark.anyio
async def test_an_intruder_finds_no_other_program(probe: Any) -> None:
    commands, programs, written, ran = await probe(INTRUDER, json.dumps(LINES), commands=WEB_COMMANDS)
    there = {name for name in WEB_COMMANDS if find_command(name)}
    assert set(READ_ONLY_COMMANDS) - {"jq", "file"} <= there
    assert {name for name in commands if not name.startswith("python")} == there
    allowed = {f"/usr/bin/{name}" for name in there}
    of_libraries = f"/usr/lib/{os.uname().machine}-linux-gnu/"
    others = [path for path in programs if path not in allowed and not path.startswith(of_libraries)]
    assert [path for path in others if not Path(path).name.startswith("python")] == []
    assert written == []
    assert ran["sh"] == "AGENT\n"
    assert ran["env"] == "1\n"
    assert ran["git"] == ran["perl"] == ran["curl"] == "No such file or directory"


def test_links_are_followed_within_the_system(tmp_path: Path) -> None:
    for directory in ("usr/bin", "etc/alternatives", "usr/lib/x"):
        (tmp_path / directory).mkdir(parents=True)
    program = tmp_path / "usr/lib/x/tool-2"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "etc/alternatives/tool").symlink_to("/usr/lib/x/tool-2")
    (tmp_path / "usr/bin/tool").symlink_to("../../etc/alternatives/tool")
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "usr/bin/round").symlink_to("round")
    assert find_command("tool", tmp_path) == program
    assert find_command("round", tmp_path) is None
    assert find_command("absent", tmp_path) is None
    options = list(only_commands(["tool", "absent"], Path("/opt/python"), tmp_path))
    assert options.count("--ro-bind") == 1
    assert options[options.index("--ro-bind") + 1 :][:2] == [str(program), "/usr/bin/tool"]
    assert "/bin" not in options
