"""What every agent may use, whatever its harness calls it. Adapters say it in their harness's own terms; the
sandbox enforces it underneath: it has no network, and for web tasks no other commands than these."""

from __future__ import annotations

READ_ONLY_COMMANDS = (
    *("ls", "cat", "find", "file", "grep", "sort", "head", "tail", "jq", "cut", "uniq", "tr", "wc"),
)
"""The shell of a web agent."""
WEB_COMMANDS = (*READ_ONLY_COMMANDS, "sh", "bash", "env")
"""The programs of the system that a web agent's sandbox has: those, and what runs them."""

SHELL_TIMEOUT_S = 180
"""How long one command of a coding agent may take."""
