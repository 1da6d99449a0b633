"""The browser session as the runner sees it: a process of its own that records and intercepts.

The session process holds the browser's CDP pipe, the interceptor, the egress proxy (the browser's only way
out), the recorder, the video and the relay for the agent. The runner sends it one configuration and a
`stop`; it answers with events. If it dies, the browser has no network and ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, FieldSerializationInfo, SecretStr, field_serializer


class EgressRules(BaseModel):
    """Where the browser's traffic may go."""

    routes: dict[str, Path] = {}
    """Host name -> unix socket of a bundled site."""
    tls_routes: dict[str, Path] = {}
    """The same for port 443, where a site speaks TLS."""
    internet: bool = True
    """Anything else: resolved and dialled, private and loopback addresses always refused."""


class SessionConfig(BaseModel):
    """All a browser session needs to know; sent as one line of JSON on its stdin."""

    run_dir: Path
    eval_schema: dict[str, Any]
    egress: EgressRules
    relay_socket: Path
    """Unix socket on which the session serves CDP for the agent."""
    scratch: Path
    """Private directory of this session; profile, display socket and frame buffer live here."""
    uploads: dict[str, Path] = {}
    """Paths the agent may upload, as it names them inside its sandbox -> the host file."""
    record_passwords: bool = False
    browser: Path = Path("chromium")
    """The Chromium or Chrome to run, unless `remote` names one that runs already."""
    remote: SecretStr | None = None
    """CDP address of a browser that runs elsewhere; it may hold a token."""
    sandbox: Literal["bwrap", "none"] = "bwrap"
    own_ipc: bool = False
    """Whether the session has an IPC namespace of its own, which its sandboxes share; it finds out itself."""
    view: Literal["none", "watch", "control"] = "none"
    """Whether the screen is shown to somebody, and whether their keys and clicks count."""
    vnc_socket: Path | None = None
    """Unix socket on which the session then speaks RFB."""
    api_port: int | None = None
    """Serve the recorder API on this port of the host's loopback, or on a free one where it is taken."""
    api_token: SecretStr = SecretStr("")
    """Opens the recorder API."""
    trusted_key: str | None = None
    """SHA-256 of the one public key that the browser trusts whatever its certificate says, in base64."""
    width: int = 1920
    height: int = 1080
    closing_moment_s: float = 15.0
    """After a match the recording goes on until the page is quiet, at most so long."""

    def for_the_session(self) -> str:
        """One line of JSON with its secrets: for the session's stdin and nothing else."""
        return self.model_dump_json(context={"secrets": True})

    @field_serializer("remote", "api_token", when_used="unless-none")
    def _hide(self, value: SecretStr, info: FieldSerializationInfo) -> str:
        return value.get_secret_value() if (info.context or {}).get("secrets") else str(value)


class SessionEvent(BaseModel):
    """One line of JSON on the session's stdout."""

    event: Literal[
        "ready",
        "progress",
        "notice",
        "intercepted",
        "stop_requested",
        "browser_crashed",
        "human_left",
        "failed",
        "closed",
    ]
    actions: int = 0
    requests: int = 0
    commands: int = 0
    """CDP commands of the agent; like an action, each is a sign of life."""
    video_started_at: float | None = None
    api_url: str | None = None
    """Where the recorder API is (`ready`)."""
    detail: str = ""
    """What went wrong (`failed`, `browser_crashed`) or what the record should say (`notice`), else free."""


class SessionCommand(BaseModel):
    """One line of JSON on the session's stdin after the configuration."""

    command: Literal["stop"]
    reason: str
    """The StopReason, for interception.json where nothing was intercepted."""
    description: str = ""
