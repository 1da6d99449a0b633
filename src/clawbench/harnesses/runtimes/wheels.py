"""Options of uv that all Python packages are installed with."""

from __future__ import annotations

from clawbench.harnesses.runtimes.tooling import Sources


def index_options(sources: Sources) -> tuple[str, ...]:
    if sources.wheelhouse is None:
        return ()
    return ("--offline", "--no-index", "--find-links", str(sources.wheelhouse))


def wheel_remedy(wanted: str, sources: Sources) -> str:
    if sources.wheelhouse is not None:
        return f"`pip download -d {sources.wheelhouse} {wanted}` where there is a network"
    return "Is the version right, and the package index reachable? Without a network give --wheelhouse DIR"
