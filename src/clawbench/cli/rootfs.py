"""`--rootfs`: the agent on the root file system of another distribution."""

from __future__ import annotations

from pathlib import Path

import clawbench
from clawbench.cli.progress import shown_steps
from clawbench.errors import InputError
from clawbench.harnesses.runtimes.installing import Installer
from clawbench.places import cache_directory
from clawbench.sandbox import Root, check_root

ROOTFS_HELP = (
    "Show the agent the root file system in DIR (an mmdebstrap tree, an unpacked image), not this machine's."
)


def find_root(tree: Path | None, output: Path, sandbox: str = "bwrap") -> Root | None:
    """The tree, with a Python that runs in it: copied into the cache where none is there yet."""
    if tree is None:
        return None
    if sandbox != "bwrap":
        raise InputError(
            "needs a sandbox with a file system of its own", field="--rootfs", remedy="Use --sandbox bwrap"
        )
    kept = [output.absolute(), cache_directory(), Path.home(), Path(clawbench.__file__).parent]
    checked = check_root(tree, kept)
    with shown_steps("python") as say:
        carried = Installer(cache_directory(), say=say).interpreter(">=3.11")
    return Root(checked, Path(carried.path("bin/python3")).resolve())
