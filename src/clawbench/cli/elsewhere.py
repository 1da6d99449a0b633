"""`--browser-cdp`: a browser that already runs somewhere, looked at before anything starts."""

from __future__ import annotations

import os

from clawbench.environments.browser.remote import VARIABLE, Endpoint, parse_endpoint
from clawbench.tasks import Task

CDP_HELP = (
    "Web tasks: use a browser that runs elsewhere, at http://HOST:PORT or ws(s)://…; `${NAME}` is filled in "
    f"from the environment (default: what {VARIABLE} says)."
)


def find_endpoint(given: str | None, task: Task) -> Endpoint | None:
    """The address that was given, checked as far as words go."""
    if given is None and task.kind == "web":
        given = os.environ.get(VARIABLE) or None
    return None if given is None else parse_endpoint(given, os.environ)


async def check_endpoint(endpoint: Endpoint) -> None:
    """Get through to the browser, as far as that has no consequences there."""
    # Its web client takes long to import, and most runs have no use for it.
    from clawbench.environments.browser.remote.reaching import check_endpoint

    await check_endpoint(endpoint)
