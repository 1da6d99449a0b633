"""What does not match (another path, another method, another filter) passes untouched and is logged once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clawbench.environments.browser.gate.bodies import read_body
from tests.environments.browser.coverage.test_ways import WAYS, named
from tests.environments.browser.coverage.way import BODY, FINAL, Way, try_passed
from tests.environments.browser.coverage.ways_bodies import LARGE

pytestmark = pytest.mark.anyio

OTHERS: dict[str, Callable[[Way], Mapping[str, Any]]] = {
    "path": lambda way: {**way.schema, "url_pattern": r"/orders\b"},
    "method": lambda way: {**way.schema, "method": "PATCH" if way.method == "PUT" else "PUT"},
    "filter": lambda way: {**way.schema, "body": {"kind": "another"}, "params": {"kind": "another"}},
}
"""Schemas that almost match."""

EXACT: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "fetch": ("path", lambda raw: raw == BODY.encode()),
    "xhr": ("method", lambda raw: raw == BODY.encode()),
    "form": ("filter", lambda raw: raw == b"kind=final"),
    "form-text-plain": ("path", lambda raw: raw == b"kind=final\r\n"),
    "form-in-new-tab": ("method", lambda raw: raw == b"kind=final"),
    "frame-of-another-site-fetch": ("filter", lambda raw: raw == BODY.encode()),
    "worker": ("path", lambda raw: raw == BODY.encode()),
    "service-worker-forwards-fetch": ("method", lambda raw: raw == BODY.encode()),
    "beacon-as-the-tab-closes": ("filter", lambda raw: raw == BODY.encode()),
    "redirect-307-form": ("path", lambda raw: raw == b"kind=final"),
    "body-of-10-mb": ("filter", lambda raw: json.loads(raw) == FINAL | {"text": "x" * LARGE}),
    "body-gzip": ("method", lambda raw: gzip.decompress(raw) == BODY.encode()),
    "body-binary": ("path", lambda raw: raw == b"\x00\xff\x01\xfe"),
    "graphql-batched": ("filter", lambda raw: len(json.loads(raw)) == 2),
    "get-image": ("filter", lambda raw: raw == b""),
}
"""Ways that stand for the others, what of the schema is not met, and what the site has to get."""

NEVER_ARRIVE = {"body-stream"}
"""A stream is sent over HTTP/2 only, which the suite's site does not speak."""
NOT_LET_IN = {"get-service-worker-script"}
"""Where the schema's method is GET, there are no service workers."""
NOT_KEPT = {"body-of-100-mb"}
"""Where such a request is not held, nobody has its body."""
PRESSED_AGAIN = {"form-in-pdf"}
"""Its button is pressed until the request is caught, which it never is here."""
ARRIVING = [way for way in WAYS if way.name not in NEVER_ARRIVE | PRESSED_AGAIN]
BY_NAME = {way.name: way for way in WAYS}


@pytest.mark.parametrize("name", EXACT)
async def test_it_arrives_as_it_was_sent(open_site: Any, name: str) -> None:
    way, (other, is_exact) = BY_NAME[name], EXACT[name]
    async with open_site(OTHERS[other](way)) as opened:
        assert is_exact(await try_passed(opened, way))


@pytest.mark.coverage
@pytest.mark.parametrize("way", ARRIVING, ids=named)
@pytest.mark.parametrize("other", OTHERS)
async def test_every_way_arrives(open_site: Any, way: Way, other: str) -> None:
    if other == "filter" and way.undecidable:
        pytest.skip("the body that decides cannot be read: it is blocked")
    if other != "method" and way.name in NOT_LET_IN:
        pytest.skip("it is not let in")
    if other == "path" and way.name in NOT_KEPT:
        pytest.skip("the browser does not keep a body of that size")
    async with open_site(OTHERS[other](way)) as opened:
        raw = await try_passed(opened, way)
        arrived = way.arrived(opened)[0]
        as_sent = read_body({"headers": arrived.headers, "postData": raw.decode("latin-1")})
        if isinstance(way.body, dict) and raw.isascii() and not way.undecidable:
            assert as_sent.value == way.body
