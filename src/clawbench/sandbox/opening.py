"""From a provider's name to a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clawbench.errors import InputError
from clawbench.sandbox.bubblewrap import BubblewrapSandbox
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.plain import PlainSandbox
from clawbench.sandbox.protocol import Mount, Root, Sandbox

PROVIDERS = ("bwrap", "none")


def open_sandbox(
    provider: str,
    *,
    home: Path,
    mounts: Sequence[Mount] = (),
    hide: Sequence[Path] = (),
    guardian: Guardian | None = None,
    uid: int = 1000,
    nested_userns: bool = False,
    share_ipc: bool = False,
    path_first: Sequence[str] = (),
    commands: Sequence[str] | None = None,
    root: Root | None = None,
) -> Sandbox:
    """`home`: an empty private directory, removed by `close`; `hide`: host paths that no mount may show.

    With `share_ipc` it shares memory with whoever starts it (see `enter_own_ipc`). `path_first`: directories
    inside in which programs are looked for before all others. `commands`: the only ones of the system
    that are there, beside the interpreter of our launcher. `root`: what is shown instead of the host's own
    system.
    """
    if root is not None and provider != "bwrap":
        raise InputError(
            f"the sandbox {provider!r} has the host's root file system",
            field="--rootfs",
            remedy="Leave it out, or use --sandbox bwrap",
        )
    if provider == "bwrap":
        return BubblewrapSandbox(
            home=home,
            mounts=mounts,
            hide=hide,
            guardian=guardian,
            uid=uid,
            nested_userns=nested_userns,
            share_ipc=share_ipc,
            path_first=path_first,
            commands=commands,
            root=root,
        )
    if provider == "none":
        return PlainSandbox(home=home, mounts=mounts, guardian=guardian, path_first=path_first)
    raise InputError(
        f"there is no sandbox provider {provider!r}", remedy=f"Choose one of: {', '.join(PROVIDERS)}."
    )
