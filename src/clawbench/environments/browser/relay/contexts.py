"""Contexts go to the browser by their unique names: numbers come again, in the next process, for others.

While a page leaves, the browser keeps commands back and hands them to the process that comes. A number that
meant a world of the agent's may mean the recorder's there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawbench.environments.browser.cdp import Message

NUMBERS = {"Runtime.evaluate": "contextId", "Runtime.callFunctionOn": "executionContextId"}
"""Commands that run code in a context, and how they take its number."""
NAME, UNKNOWN_NAME = "uniqueContextId", "uniqueContextId not found"
OBJECT_ID = re.compile(r"-?\d{1,20}\.(?P<context>\d{1,20})\.\d{1,20}", re.ASCII)
"""Process, context and number."""
DATA = "value"
"""Of an argument: whatever a page calls its own things, nothing in it is taken for an object."""
GONE = {"code": -32000, "message": "Cannot find context with specified id"}
"""What the browser says of a number; clients conclude that the page has left."""


def by_name(method: str, params: dict[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """The parameters with the name of a context in the place of its number."""
    number = NUMBERS.get(method)
    if number is None or params.get(number) not in names:
        return params
    rest = {one: value for one, value in params.items() if one != number}
    return {**rest, NAME: names[params[number]]}


def objects(value: Any) -> Iterator[Any]:
    """The ids of all objects that parameters or an event name: `objectId`, `promiseObjectId` and so on."""
    if isinstance(value, list):
        for one in value:
            yield from objects(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name.lower().endswith("objectid"):
                yield one
            elif name != DATA:
                yield from objects(one)


def owner(object_id: Any) -> int | None:
    """The context of an object; None where its id is spelled as the browser reads, but never writes it."""
    found = OBJECT_ID.fullmatch(object_id) if isinstance(object_id, str) else None
    return int(found["context"]) if found else None


def as_of_number(reply: Message) -> Message:
    """The reply as it would be to a number."""
    error = reply.get("error")
    return {"error": GONE} if error and error.get("message") == UNKNOWN_NAME else reply
