"""`--human`, `--watch` and `--listen`: who drives a run, and who looks at it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from clawbench.environments.browser.ports import LOOPBACK
from clawbench.environments.browser.ports import NOVNC as PORT
from clawbench.errors import InputError

if TYPE_CHECKING:
    from clawbench.environments.browser.vnc import ViewSettings


def view_settings(*, human: bool, watch: bool, listen: str | None) -> ViewSettings | None:
    """How the run is to be looked at; None: not at all."""
    if human and watch:
        raise InputError(
            "cannot be given with --human",
            field="--watch",
            remedy="A person who drives sees the screen anyway",
        )
    if not human and not watch:
        if listen is not None:
            raise InputError(
                "is the address of a live view, and none was asked for",
                field="--listen",
                remedy="Give --human or --watch with it",
            )
        return None
    # Its web server takes long to import, and most runs are looked at by nobody.
    from clawbench.environments.browser.vnc import ViewSettings

    host, port = listen_address(listen) if listen else (LOOPBACK, PORT)
    check_host(host)
    return ViewSettings("control" if human else "watch", host, port)


def listen_address(given: str) -> tuple[str, int]:
    """`HOST`, `HOST:PORT`, `[V6]` or `[V6]:PORT`."""
    host, port = given, ""
    if given.startswith("["):
        host, _, port = given[1:].partition("]")
        port = port.removeprefix(":")
    elif given.count(":") == 1:
        host, port = given.split(":")
    if not host or (port and not (port.isascii() and port.isdigit() and int(port) < 65536)):
        raise InputError(
            f"{given!r} is not an address", field="--listen", remedy="Write it as 0.0.0.0 or 0.0.0.0:6080"
        )
    return host, int(port) if port else PORT


def check_host(host: str) -> None:
    """Whether this machine can listen there, on some port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{host} cannot be listened on ({error})",
            field="--listen",
            remedy="Give an address of this machine, such as 127.0.0.1 or 0.0.0.0",
        ) from None


def refuse_with_human(options: Mapping[str, object]) -> None:
    """A person needs no agent, no model and no limits on either; naming them is a mistake."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                "cannot be given with --human", field=name, remedy="Leave it out: a person drives this run"
            )
