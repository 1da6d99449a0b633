"""Answering on the two ports a sandbox is given: the gateway and the CDP relay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawbench.sandbox import Bridge, Process


class BridgedServices:
    """Connects each service's listener to the unix socket of the part that provides it."""

    def __init__(self, sockets: Mapping[str, Path]) -> None:
        self._sockets = sockets
        self._bridges: list[Bridge] = []

    def serve(self, process: Process) -> None:
        for name, listener in process.listeners.items():
            bridge = Bridge(listener, self._sockets[name])
            bridge.start()
            self._bridges.append(bridge)

    async def close(self) -> None:
        for bridge in self._bridges:
            await bridge.close()
        self._bridges.clear()
