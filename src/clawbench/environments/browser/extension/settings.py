"""How a person's own browser is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from clawbench.environments.browser.ports import RECORDER as PORT


@dataclass(frozen=True)
class ExtensionSettings:
    port: int = PORT
    """Where the recorder API listens; a taken port moves to a free one."""
    launch: bool = False
    """Open a browser with a fresh profile, the extension in it; else the person uses theirs."""
