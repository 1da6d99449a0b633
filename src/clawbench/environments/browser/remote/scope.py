"""One browser context of a shared browser: what belongs to it, and commands kept within it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from clawbench.environments.browser.remote.endpoint import is_this_machine

OF_A_CONTEXT = frozenset(
    (
        *("Browser.grantPermissions", "Browser.resetPermissions", "Browser.setDownloadBehavior"),
        *("Browser.setPermission", "Browser.cancelDownload", "Target.createTarget"),
        *("Storage.getCookies", "Storage.setCookies", "Storage.clearCookies"),
    )
)
"""Commands that act on the default context, which is somebody else's, unless they name another."""

DEBUGGING_PATHS = ("/json/", "/devtools/")


def belongs(info: Mapping[str, Any], context: str) -> bool:
    """Whether a target is of the context; the browser itself is of all."""
    return info.get("type") == "browser" or info.get("browserContextId") == context


def within(method: str, params: dict[str, Any] | None, context: str | None) -> dict[str, Any] | None:
    """The parameters with which a command stays in the context; None is the default one."""
    if method == "Browser.setDownloadBehavior":
        # What the browser saves would lie on a machine that is not ours.
        params = {**(params or {}), "behavior": "deny"}
        params.pop("downloadPath", None)
    if method in OF_A_CONTEXT and context is not None:
        return {**(params or {}), "browserContextId": context}
    return params


def only_ours(method: str, result: dict[str, Any], context: str) -> dict[str, Any]:
    """A reply without what belongs to others."""
    if method == "Target.getTargets":
        return {"targetInfos": [info for info in result["targetInfos"] if belongs(info, context)]}
    if method == "Target.getBrowserContexts":
        return {"browserContextIds": []}
    return result


def leads_to_debugger(url: str) -> bool:
    """Whether a request goes to a browser's own debugging port, through which a page could leave the context.

    Such ports answer only to addresses and localhost, whatever their number.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if not f"{parts.path}/".startswith(DEBUGGING_PATHS):
        return False
    return is_this_machine(host) or _is_address(host)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdecimal()
