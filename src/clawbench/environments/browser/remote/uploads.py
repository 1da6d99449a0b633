"""Files for a browser that does not see our disk: their content goes into the page's file input."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import Any

from clawbench.environments.browser.cdp import CdpConnection, CdpError, Message

LARGEST_UPLOAD = 32 << 20
NOT_DRAGGED = "files cannot be dragged into a browser that runs elsewhere; use DOM.setFileInputFiles"
NOT_AN_INPUT = "Node is not a file input element"

FILL = """function (files) {
  if (this.tagName !== 'INPUT' || this.type !== 'file') return false;
  const carrier = new DataTransfer();
  for (const { name, type, lastModified, data } of files) {
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
    carrier.items.add(new File([bytes], name, { type, lastModified }));
  }
  this.files = carrier.files;
  for (const kind of ['input', 'change']) {
    this.dispatchEvent(new Event(kind, { bubbles: true, composed: true }));
  }
  return true;
}"""


async def fill_file_input(cdp: CdpConnection, params: dict[str, Any], session: str | None) -> Message:
    """Do what DOM.setFileInputFiles does, with files of this machine; returns the reply to it."""
    try:
        files = _packed([Path(file) for file in params["files"]])
        await _fill(cdp, params, session, files)
    except (CdpError, OSError, ValueError) as error:
        return refusal(error.message if isinstance(error, CdpError) else str(error))
    return {"result": {}}


def refusal(reason: str) -> Message:
    return {"error": {"code": -32000, "message": reason}}


def _packed(paths: list[Path]) -> list[dict[str, Any]]:
    if sum(path.stat().st_size for path in paths) > LARGEST_UPLOAD:
        raise ValueError(f"files of more than {LARGEST_UPLOAD >> 20} MiB cannot be sent to a remote browser")
    return [
        {
            "name": path.name,
            "type": mimetypes.guess_type(path.name)[0] or "",
            "lastModified": int(path.stat().st_mtime * 1000),
            "data": base64.b64encode(path.read_bytes()).decode(),
        }
        for path in paths
    ]


async def _fill(
    cdp: CdpConnection, params: dict[str, Any], session: str | None, files: list[dict[str, Any]]
) -> None:
    reference = params.get("objectId")
    if reference is None:
        node = {name: value for name, value in params.items() if name in ("nodeId", "backendNodeId")}
        reference = (await cdp.send("DOM.resolveNode", node, session))["object"]["objectId"]
    call = {
        "objectId": reference,
        "functionDeclaration": FILL,
        "arguments": [{"value": files}],
        "returnByValue": True,
    }
    answer = await cdp.send("Runtime.callFunctionOn", call, session)
    if answer["result"].get("value") is not True:
        raise ValueError(NOT_AN_INPUT)
