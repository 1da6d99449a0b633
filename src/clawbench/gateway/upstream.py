"""The other end: what answers a model call, an HTTP API or something that behaves like one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
from pydantic import SecretStr

import clawbench
from clawbench.errors import InputError
from clawbench.gateway.dialects import DIALECTS, Operation
from clawbench.gateway.lines import Lines, Pool
from clawbench.gateway.outage import about_the_account
from clawbench.gateway.redaction import Redactor
from clawbench.gateway.supply import Pass, Supply
from clawbench.models import Model
from clawbench.results import StopReason

Headers = Sequence[tuple[str, str]]

_HOP_BY_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_UNPACKED = frozenset(("gzip", "deflate"))
_NOT_RETURNED = _HOP_BY_HOP | {"set-cookie"}
_FORWARDED = frozenset(
    (
        "accept",
        "user-agent",
        "openai-beta",
        "idempotency-key",
        "http-referer",
        "x-title",
        "anthropic-version",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "x-app",
        "x-goog-api-client",
    )
)
_FORWARDED_PREFIXES = ("x-stainless-",)
_MAY_MEAN_THE_KEY = frozenset((400, 429))
"""Google answers 400 to a bad key, OpenAI 429 to one without credit: the body tells."""
_USER_AGENT = f"clawbench/{clawbench.__version__}"
SHORTEST_WAIT_S = 0.01
"""A shorter wait for leave to ask is not worth noting."""
_VERSIONED = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?/?$")


class UnreachableError(Exception):
    """The upstream could not be reached, or broke off."""


class RunEndsError(Exception):
    """There is no answer and there will be none: the run is over."""

    def __init__(self, reason: StopReason, description: str) -> None:
        self.reason, self.description = reason, description
        super().__init__(description)


class Reply(Protocol):
    """An answer that has begun."""

    status: int
    headers: Headers
    notes: dict[str, Any]
    """What the call's line in llm-calls.jsonl says beside the rest."""

    def body(self) -> AsyncIterator[bytes]:
        """The body as it arrives; raises UnreachableError where it breaks off."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Outgoing:
    """A call as it goes up."""

    path: str
    """Without the version before it."""
    body: dict[str, Any]
    headers: Headers = ()
    query: str = ""
    version: str = ""
    """As the harness asked for it; counts only where the model's base_url names none."""
    operation: Operation = Operation.GENERATE
    id: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """The body before the gateway set anything in it."""


class Upstream(Protocol):
    """Answers the calls of one run."""

    async def send(self, call: Outgoing) -> Reply:
        """Raises UnreachableError where no answer begins, RunEndsError where none ever will."""
        ...


class HttpUpstream:
    """A model's HTTP API. The keys stay in its supply, which the runs of one model share."""

    def __init__(
        self,
        model: Model,
        lines: Lines,
        redactor: Redactor,
        supply: Supply | None = None,
    ) -> None:
        self._base = _base_url(model)
        self._dialect = DIALECTS[model.api_type]
        self._supply = supply or Supply(model.name, usable_keys(model))
        self._lines = lines
        self._redactor = redactor

    async def send(self, call: Outgoing) -> Reply:
        passed = await self._supply.enter()
        pool = self._lines.take(self._base)

        def done() -> None:
            self._lines.give_back(pool)
            self._supply.leave()

        try:
            reply = HttpReply(await self._post(call, passed, pool), self._redactor.fresh(), done)
        except BaseException:
            done()
            raise
        after = next((value for name, value in reply.headers if name.lower() == "retry-after"), None)
        bad_key = False
        if len(self._supply.keys) > 1 and reply.status in _MAY_MEAN_THE_KEY:
            bad_key = about_the_account(await reply.read())
        set_aside = self._supply.heard(passed, reply.status, after, bad_key=bad_key)
        reply.notes = _notes(passed, len(self._supply.keys), set_aside=set_aside)
        return reply

    async def _post(self, call: Outgoing, passed: Pass, pool: Pool) -> httpx.Response:
        outgoing = {name.lower(): value for name, value in call.headers if _goes_up(name)}
        outgoing = {"accept": "*/*", "user-agent": _USER_AGENT, **self._dialect.headers, **outgoing}
        outgoing |= {"content-type": "application/json", "accept-encoding": "identity"}
        if passed.secret is not None:
            name, value = self._dialect.authorization(passed.secret.get_secret_value())
            outgoing[name] = value
        try:
            return await pool.post(self._url(call), outgoing, json.dumps(call.body).encode())
        except httpx.HTTPError as error:
            raise UnreachableError(_describe(error, self._redactor)) from None

    def _url(self, call: Outgoing) -> httpx.URL:
        base = self._base.path.rstrip("/")
        version = ""
        if self._dialect.version and not _VERSIONED.search(base):
            version = call.version or self._dialect.version
        query = "&".join(part for part in (self._base.query.decode(), call.query) if part)
        return self._base.copy_with(path=base + version + call.path, query=query.encode() or None)


class HttpReply:
    """A response under way, keys masked, otherwise byte for byte."""

    def __init__(self, response: httpx.Response, redactor: Redactor, on_close: Callable[[], None]) -> None:
        self._response, self._redactor, self._on_close = response, redactor, on_close
        self.notes: dict[str, Any] = {}
        self._ahead: list[bytes] | None = None
        self._broken: httpx.HTTPError | None = None
        self.status = response.status_code
        # What cannot be unpacked here passes as it is, with its header.
        encoding = response.headers.get("content-encoding", "").strip().lower()
        encoded = encoding in _UNPACKED
        self._arriving = response.aiter_bytes() if encoded else response.aiter_raw()
        dropped = _NOT_RETURNED | ({"content-encoding", "content-length"} if encoded else set())
        self.headers: Headers = [
            (name, redactor.text(value))
            for name, value in response.headers.multi_items()
            if name.lower() not in dropped
        ]

    async def read(self) -> bytes:
        """The whole body, ahead of `body`, which then gives the same and breaks off where this did."""
        self._ahead = []
        try:
            async for chunk in self._arriving:
                self._ahead.append(chunk)
        except httpx.HTTPError as error:
            self._broken = error
        return b"".join(self._ahead)

    async def body(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks():
                if clean := self._redactor.feed(chunk):
                    yield clean
        except httpx.HTTPError as error:
            raise UnreachableError(_describe(error, self._redactor)) from None
        if rest := self._redactor.rest():
            yield rest

    async def _chunks(self) -> AsyncIterator[bytes]:
        if self._ahead is not None:
            for chunk in self._ahead:
                yield chunk
            if self._broken is not None:
                raise self._broken
            return
        async for chunk in self._arriving:
            yield chunk

    async def close(self) -> None:
        try:
            await self._response.aclose()
        finally:
            self._on_close()


def usable_keys(model: Model) -> list[SecretStr]:
    """The model's keys without the blanks around them; InputError where one cannot be sent."""
    keys = [key.get_secret_value().strip() for key in model.api_keys]
    if all(key.isascii() and key.isprintable() and key for key in keys):
        return [SecretStr(key) for key in keys]
    raise InputError(
        "holds characters that cannot be sent in a header",
        field=f"{model.name}.api_key",
        remedy="Copy the key again, as one line",
    )


def _base_url(model: Model) -> httpx.URL:
    try:
        url = httpx.URL(model.base_url)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme in ("http", "https") and url.host:
        return url
    raise InputError(
        "is no http or https address",
        field=f"{model.name}.base_url",
        remedy="Write the address of the API, such as https://api.example.com/v1",
    )


def _notes(passed: Pass, keys: int, *, set_aside: bool) -> dict[str, Any]:
    notes: dict[str, Any] = {"key": passed.key} if keys > 1 else {}
    if passed.waited_s >= SHORTEST_WAIT_S:
        notes["waited_s"] = round(passed.waited_s, 6)
    return {**notes, "key_set_aside": True} if set_aside else notes


def _goes_up(name: str) -> bool:
    return name.lower() in _FORWARDED or name.lower().startswith(_FORWARDED_PREFIXES)


def _describe(error: Exception, redactor: Redactor) -> str:
    return redactor.text(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
