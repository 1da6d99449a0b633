"""What an agent may do over CDP: browse, and nothing a browser's user could not do. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clawbench.environments.browser.relay.allowed import REFUSED, SINGLE, WHOLE_DOMAINS

WEB_SCHEMES = frozenset(("http", "https", "data", "blob", "javascript"))
PAGES = frozenset(("page", "iframe"))
NEW_TAB = frozenset(
    ("chrome://newtab", "chrome://newtab/", "chrome://new-tab-page", "chrome://new-tab-page/")
)
BLANK = "about:blank"
HIDDEN_TYPES = ("browser", "browser_ui", "webview", "other", "auction_worklet", "assistive_technology")
HIDDEN_SCHEMES = frozenset(("chrome", "devtools", "chrome-extension", "chrome-untrusted", "chrome-search"))
LEAVING = frozenset(
    ("Page.navigate", "Page.reload", "Page.navigateToHistoryEntry", "Page.close", "Target.closeTarget")
)
"""Commands after which documents are gone."""
CONTEXT_PARAMETERS = ("contextId", "executionContextId", "uniqueContextId")
OUT_OF_SIGHT = ("left", "top", "windowState")
"""With these a window could be opened where no recording shows it."""
METHOD = re.compile(r"[A-Za-z]+")
OF_WINDOWS = re.compile(r"on[a-z]+|__proto__")
"""Names that mean something to every window: a binding by the name of an event handler crashes its page."""
LONGEST_LOGGED = 200
TYPED = frozenset(
    (
        *("text", "unmodifiedText", "key", "code", "keyIdentifier"),
        *("windowsVirtualKeyCode", "nativeVirtualKeyCode", "commands"),
        "arguments",
    )
)
"""Parameters that tell what was typed."""


@dataclass(frozen=True)
class RelayRules:
    """What of a session the agent must not touch, and what it may hand to pages."""

    world: str
    """Name of the recorder's isolated world."""
    binding: str
    """Name of the recorder's binding."""
    taken: frozenset[str] = frozenset()
    """Names that no other binding may have: one by it would stand in the recorder's world, too."""
    uploads: Mapping[str, str] = field(default_factory=dict)
    """Files the agent may upload: as it names them -> as the browser sees them."""
    downloads: str = "/tmp/downloads"


@dataclass(frozen=True)
class Seat:
    """Where a command is going: the session and what the agent knows there."""

    kind: str
    """Type of the target: browser, tab, page, iframe, worker, …"""
    contexts: frozenset[int | str] = frozenset()
    """Execution contexts the agent was told about."""
    sessions: frozenset[str] = frozenset()
    """Sessions the agent owns."""
    pages: frozenset[str] = frozenset()
    """Open pages, by target id."""
    targets: frozenset[str] = frozenset()
    """Targets the agent may see."""
    target: str | None = None
    contexts_of_browser: frozenset[str] = frozenset()
    """Ids of the browser contexts in which those targets live."""


class RefusalError(Exception):
    """The reason why a command is refused."""


class NoContextError(RefusalError):
    """It is for a context that is not, or no longer, there."""


def judge(rules: RelayRules, seat: Seat, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with which the command may go to the browser; RefusalError where it may not."""
    try:
        return _judged(rules, seat, method, params)
    except (TypeError, AttributeError):
        raise RefusalError("its parameters are not of the kind it takes") from None


def _judged(rules: RelayRules, seat: Seat, method: str, params: dict[str, Any]) -> dict[str, Any]:
    domain = method.partition(".")[0]
    if method in REFUSED:
        raise RefusalError(REFUSED[method])
    if method not in SINGLE and domain not in WHOLE_DOMAINS:
        raise RefusalError("it is nothing a browser's user could do")
    if domain == "Fetch" and seat.kind not in PAGES:
        raise RefusalError("the Fetch domain is offered on pages only")
    for name in CONTEXT_PARAMETERS:
        if name in params and params[name] not in seat.contexts:
            raise NoContextError(f"there is no execution context {params[name]!r}")
    if rules.world in (params.get("worldName"), params.get("executionContextName")):
        raise RefusalError("that world is taken")
    check = CHECKS.get(method)
    return check(rules, seat, params) if check else params


def closed_by(method: str, params: dict[str, Any], target: str | None) -> str | None:
    """Which target a command to `target` closes."""
    if method == "Target.closeTarget":
        return str(params["targetId"])
    return target if method == "Page.close" else None


def depends_on_seat(method: str, params: dict[str, Any]) -> bool:
    """Whether the judgement takes more of the seat than its kind."""
    return method in CHECKS or any(name in params for name in CONTEXT_PARAMETERS)


def may_open(url: str) -> bool:
    """Whether a user could open this from a web page: no local files, no pages of the browser itself."""
    cleaned = "".join(letter for letter in url.strip("".join(map(chr, range(33)))) if letter not in "\t\r\n")
    scheme, colon, rest = cleaned.partition(":")
    scheme = scheme.lower()
    if not colon:
        return False
    if scheme == "about":
        return rest.lower().split("#")[0].split("?")[0] in ("blank", "srcdoc")
    if scheme == "view-source":
        return rest.lower().startswith(("http:", "https:"))
    return scheme in WEB_SCHEMES


def is_visible(info: Mapping[str, Any]) -> bool:
    """Whether the agent may know of a target."""
    scheme = str(info.get("url", "")).partition(":")[0].lower()
    return info.get("type") not in HIDDEN_TYPES and scheme not in HIDDEN_SCHEMES


def for_log(value: Any, *, typed: bool = False) -> Any:
    """Parameters as the log keeps them: long values cut, what was typed left out."""
    if isinstance(value, dict):
        return {
            name: f"({len(str(one))} characters)" if typed and name in TYPED else for_log(one, typed=typed)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [for_log(one, typed=typed) for one in value[:20]]
    if isinstance(value, str) and len(value) > LONGEST_LOGGED:
        return f"{value[:LONGEST_LOGGED]}… ({len(value)} characters)"
    return value


Check = Callable[[RelayRules, Seat, dict[str, Any]], dict[str, Any]]


def _opens(_rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    url = params.get("url", "")
    if not isinstance(url, str) or not may_open(url):
        raise RefusalError(f"a page cannot lead to {str(url)[:LONGEST_LOGGED]!r}")
    return params


def _creates(rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("hidden"):
        raise RefusalError("a hidden page would not be on the recording")
    context = params.get("browserContextId")
    if context and context not in seat.contexts_of_browser:
        raise RefusalError("there is one browser context")
    params = {name: value for name, value in params.items() if name not in OUT_OF_SIGHT}
    if params.get("url", "").strip().lower() in NEW_TAB | {""}:
        return {**params, "url": BLANK}
    return _opens(rules, seat, params)


def _closes(_rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("targetId") not in seat.targets:
        raise RefusalError("there is no such target")
    if seat.pages <= {params["targetId"]}:
        raise RefusalError("the last page stays open")
    return params


def _closes_itself(rules: RelayRules, seat: Seat, _params: dict[str, Any]) -> dict[str, Any]:
    _closes(rules, seat, {"targetId": seat.target})
    return {}


def _knows_target(_rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if "targetId" in params and params["targetId"] not in seat.targets:
        raise RefusalError("there is no such target")
    return params


def _attaches(rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if not params.get("flatten"):
        raise RefusalError("sessions are offered with flatten: true only")
    return _knows_target(rules, seat, params)


def _auto_attaches(rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("autoAttach") and not params.get("flatten"):
        raise RefusalError("sessions are offered with flatten: true only")
    wanted = params.get("filter") or [{"type": "tab", "exclude": True}, {}]
    hidden = [{"type": kind, "exclude": True} for kind in HIDDEN_TYPES]
    return {**_knows_target(rules, seat, params), "filter": [*hidden, *wanted]}


def _detaches(_rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("sessionId") not in seat.sessions:
        raise RefusalError("there is no such session")
    return params


def _uploads(rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    return {**params, "files": _inside(rules, params.get("files", []))}


def _drags(rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    data = params.get("data")
    if not isinstance(data, dict) or not data.get("files"):
        return params
    return {**params, "data": {**data, "files": _inside(rules, data["files"])}}


def _inside(rules: RelayRules, files: Any) -> list[str]:
    strange = [file for file in files if file not in rules.uploads]
    if strange:
        offered = ", ".join(sorted(rules.uploads)) or "none"
        raise RefusalError(f"{strange[0]!r} is not a file you were given; files to upload: {offered}")
    return [rules.uploads[file] for file in files]


def _binds(rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    name = params.get("name")
    if name in rules.taken | {rules.binding} or OF_WINDOWS.fullmatch(str(name)):
        raise RefusalError("that name is taken")
    if "executionContextId" in params:
        raise RefusalError("name its world: executionContextName")
    return params


def _downloads(rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    return {**params, "downloadPath": rules.downloads}


def _listens(_rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("pierce"):
        raise RefusalError("it reaches other worlds")
    return params


def _scripts_run(_rules: RelayRules, _seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("value") is not False:
        raise RefusalError("it would blind the recorder")
    return params


def _rewrites(rules: RelayRules, seat: Seat, params: dict[str, Any]) -> dict[str, Any]:
    if "url" in params and not str(params["url"]).lower().startswith(("http://", "https://")):
        raise RefusalError("a request can only be rewritten to the web")
    if "method" in params and not METHOD.fullmatch(str(params["method"])):
        raise RefusalError("that is no method")
    return params


CHECKS: dict[str, Check] = {
    "Browser.getWindowForTarget": _knows_target,
    "Browser.setDownloadBehavior": _downloads,
    "DOM.setFileInputFiles": _uploads,
    "DOMDebugger.getEventListeners": _listens,
    "Emulation.setScriptExecutionDisabled": _scripts_run,
    "Fetch.continueRequest": _rewrites,
    "Input.dispatchDragEvent": _drags,
    "Page.close": _closes_itself,
    "Page.navigate": _opens,
    "Runtime.addBinding": _binds,
    "Runtime.removeBinding": _binds,
    "Target.activateTarget": _knows_target,
    "Target.attachToTarget": _attaches,
    "Target.autoAttachRelated": _auto_attaches,
    "Target.closeTarget": _closes,
    "Target.createTarget": _creates,
    "Target.detachFromTarget": _detaches,
    "Target.getTargetInfo": _knows_target,
    "Target.setAutoAttach": _auto_attaches,
}
