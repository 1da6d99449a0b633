"""What our programs inside the sandbox share: the channel, and looking whether somebody changed a framework.

Runs on Python 3.6 and later. Imported before any tested code, and taken out of `sys.modules` again.
"""

import json
import os
import socket
import types
from typing import Any

CHANNEL = 3
NONCE_BYTES = 32
DETAIL = 4000


def open_channel() -> Any:
    """Returns `send`. Frames are marked with a nonce that only this program knows; forks lose the socket."""
    channel = socket.socket(fileno=CHANNEL)
    channel.set_inheritable(False)
    nonce = channel.recv(NONCE_BYTES, socket.MSG_WAITALL)
    send_all, dumps = channel.sendall, json.dumps
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=channel.close)

    def send(frame: Any) -> Any:
        send_all(nonce + b" " + dumps(frame).encode() + b"\n")

    return send


def functions_of(owners: Any) -> Any:
    """Every function of these classes and modules with its code: what must be the same afterwards."""
    state: Any = {}
    for owner in owners:
        prefix = getattr(owner, "__module__", "") + "." + owner.__name__
        for name, value in list(vars(owner).items()):
            plain = getattr(value, "__func__", value)
            if isinstance(plain, types.FunctionType):
                state[prefix, name] = (plain, plain.__code__, plain.__defaults__)
            elif isinstance(value, property):
                state[prefix, name] = (value, None, None)
    return state


def with_classes(modules: Any) -> Any:
    """The modules, and the classes defined in them."""
    owners = list(modules)
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ in (module.__name__, "__main__"):
                owners.append(value)
    return owners


def changed(before: Any, after: Any) -> Any:
    """Names whose function is another one than before, or runs other code."""
    return sorted(
        ".".join(key)
        for key in before
        if key not in after or any(old is not new for old, new in zip(before[key], after[key]))
    )
