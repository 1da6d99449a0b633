"""A request as Chrome shows it to an extension, in the words of requests.jsonl and of the gate. Pure."""

from __future__ import annotations

import base64
import re
from typing import Any

from clawbench.environments.browser.api.messages import RequestBody, SentRequest
from clawbench.environments.browser.gate.bodies import MULTIPART, Body, read_body
from clawbench.environments.browser.recorder.actions import MASK

PRIVATE_HEADERS = frozenset({"cookie", "authorization", "proxy-authorization"})
"""A person's own browser holds a person's own logins: that these were sent is recorded, not what."""
BOUNDARY = re.compile(rb"\A--([^\r\n]{1,70})\r\nContent-Disposition: form-data", re.IGNORECASE)
EMPTY_FILE = re.compile(rb"filename=[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n\r\n--", re.IGNORECASE)


def shown_headers(headers: dict[str, str]) -> dict[str, str]:
    return {name: MASK if name.lower() in PRIVATE_HEADERS else value for name, value in headers.items()}


def body_of(request: SentRequest) -> Body:
    """The body, parsed; Chrome hands over a form's fields or the raw parts, never both."""
    sent = request.body
    if sent is None:
        return Body()
    if sent.form is not None:
        fields = {name: values[0] if len(values) == 1 else values for name, values in sent.form.items()}
        return Body(fields, sent.complete, form=True)
    return _parsed(request, sent)


def _parsed(request: SentRequest, sent: RequestBody) -> Body:
    raw = b"".join(base64.b64decode(part) for part in sent.parts if part is not None)
    headers = request.headers
    if all(name.lower() != "content-type" for name in headers) and (boundary := BOUNDARY.match(raw)):
        # A blocked request has no headers yet; a multipart body says itself what it is.
        headers = headers | {"Content-Type": f"{MULTIPART}; boundary={boundary[1].decode('latin-1')}"}
    # Parts made from a Blob are left out without a sign.
    whole = sent.complete and None not in sent.parts and not (BOUNDARY.match(raw) and EMPTY_FILE.search(raw))
    entries: list[dict[str, Any]] = [{"bytes": base64.b64encode(raw).decode()}] if sent.parts else []
    return read_body({"headers": headers, "postDataEntries": entries if whole else [*entries, {}]})
