"""Sandboxes: where a harness, a browser or a test runs with nothing in reach but what it was given."""

from clawbench.sandbox.bridge import Bridge
from clawbench.sandbox.bubblewrap import BubblewrapSandbox
from clawbench.sandbox.guardian import Guardian
from clawbench.sandbox.ipc import enter_own_ipc
from clawbench.sandbox.opening import PROVIDERS, open_sandbox
from clawbench.sandbox.passing import PassedConnections
from clawbench.sandbox.plain import PlainSandbox
from clawbench.sandbox.protocol import Command, Ended, Limits, Mount, Process, Root, Sandbox
from clawbench.sandbox.root_view import check_root, system_name
from clawbench.sandbox.system_view import HOME

__all__ = [
    "HOME",
    "PROVIDERS",
    "Bridge",
    "BubblewrapSandbox",
    "Command",
    "Ended",
    "Guardian",
    "Limits",
    "Mount",
    "PassedConnections",
    "PlainSandbox",
    "Process",
    "Root",
    "Sandbox",
    "check_root",
    "enter_own_ipc",
    "open_sandbox",
    "system_name",
]
