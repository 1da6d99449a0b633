"""Closed shadow roots: only the debugger can open them for the injected script."""

from __future__ import annotations

from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError

STATE = "recorder"
"""Name of the injected script's object, in its own world only."""
ANSWER_WITHIN_S = 5.0
ADMIT = f"function (id) {{ return {STATE}.admit(this, id); }}"


async def look_inside(
    cdp: CdpConnection, session: str | None, context: int, held: float
) -> dict[str, Any] | None:
    """What a held event really met: {} where the element hosts no closed root, None without an answer."""
    try:
        return await _look_inside(cdp, session, context, held)
    except (CdpError, KeyError):
        return None


async def _look_inside(cdp: CdpConnection, session: str | None, context: int, held: float) -> dict[str, Any]:
    async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await cdp.send(method, params, session, ANSWER_WITHIN_S)

    world = {"contextId": context}
    element = await ask("Runtime.evaluate", {"expression": f"{STATE}.held({held!r})", **world})
    reference = element["result"]["objectId"]
    node = (await ask("DOM.describeNode", {"objectId": reference}))["node"]
    cdp.notify("Runtime.releaseObject", {"objectId": reference}, session)
    closed = [root for root in node.get("shadowRoots", ()) if root.get("shadowRootType") == "closed"]
    if not closed:
        cdp.notify("Runtime.evaluate", {"expression": f"{STATE}.release({held!r})", **world}, session)
        return {}
    identity = {"backendNodeId": closed[0]["backendNodeId"], "executionContextId": context}
    root = (await ask("DOM.resolveNode", identity))["object"]["objectId"]
    call = {
        "objectId": root,
        "functionDeclaration": ADMIT,
        "arguments": [{"value": held}],
        "returnByValue": True,
    }
    answer = await ask("Runtime.callFunctionOn", call)
    cdp.notify("Runtime.releaseObject", {"objectId": root}, session)
    if "exceptionDetails" in answer:
        raise CdpError("Runtime.callFunctionOn", "the recorder failed")
    found: dict[str, Any] = answer["result"].get("value") or {}
    if deeper := found.pop("again", None):
        found |= await _look_inside(cdp, session, context, deeper)
    return found
