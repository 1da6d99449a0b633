"""Memory that sandboxes of one process share with each other, and with nobody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SEGMENTS = ["python3", "-c", "print(open('/proc/sysvipc/shm').read().count(chr(10)) - 1)"]
MAKE_ONE = ["python3", "-c", "import ctypes; assert ctypes.CDLL(None).shmget(0, 4096, 0o1600) >= 0"]

PROGRAM = """
import asyncio, json, sys, tempfile
from pathlib import Path
from clawbench.sandbox import Command, enter_own_ipc, open_sandbox

own = enter_own_ipc()

async def run(argv, share, directory):
    home = Path(tempfile.mkdtemp(dir=directory))
    sandbox = open_sandbox("bwrap", home=home, share_ipc=share)
    output = Path(directory, home.name + ".out")
    process = await sandbox.start(Command(argv, stdout=output, stderr=output))
    assert (await process.wait()).exit_code == 0, output.read_text()
    await sandbox.close()
    return output.read_text().strip()

async def main():
    make, count = json.loads(sys.argv[1])
    await run(make, True, sys.argv[2])
    print(json.dumps([own, await run(count, True, sys.argv[2]), await run(count, False, sys.argv[2])]))

asyncio.run(main())
"""


def segments_of_the_host() -> str:
    return subprocess.run(SEGMENTS, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may not be allowed namespaces")
def test_sandboxes_that_share_see_each_others_memory_and_nobody_else_does(tmp_path: Path) -> None:
    before = segments_of_the_host()
    arguments = [json.dumps([MAKE_ONE, SEGMENTS]), str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, "1", "0"]
    assert segments_of_the_host() == before
