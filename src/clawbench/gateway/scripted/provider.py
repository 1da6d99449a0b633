"""The scripted model as an upstream: same interface as an HTTP API, in this process."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from clawbench.gateway.dialects import DIALECTS, Operation
from clawbench.gateway.exchange import Prompt
from clawbench.gateway.scripted.anthropic_shape import AnthropicShape
from clawbench.gateway.scripted.chat_shape import ChatShape
from clawbench.gateway.scripted.counting import PromptCache, count, prompt_text
from clawbench.gateway.scripted.engine import Move, decide, situation_of
from clawbench.gateway.scripted.faults import Fault, Faults
from clawbench.gateway.scripted.google_shape import GoogleShape
from clawbench.gateway.scripted.policy import Policy
from clawbench.gateway.scripted.responses_shape import ResponsesShape
from clawbench.gateway.scripted.script import Script, Shape
from clawbench.gateway.upstream import Headers, Outgoing, Reply, UnreachableError
from clawbench.gateway.usage import estimate_tokens
from clawbench.models import ApiType

SCRIPTED_HEADER = "x-clawbench-scripted"
STREAM, WHOLE = "text/event-stream; charset=utf-8", "application/json"
_SHAPES: Mapping[ApiType, Shape] = {
    ApiType.OPENAI_COMPLETIONS: ChatShape(),
    ApiType.OPENAI_RESPONSES: ResponsesShape(),
    ApiType.ANTHROPIC_MESSAGES: AnthropicShape(),
    ApiType.GOOGLE: GoogleShape(),
}


class ScriptedUpstream:
    """Answers the calls of one run from a policy, in the shape of an API."""

    def __init__(
        self,
        policy: Policy,
        run_id: str,
        api_type: ApiType = ApiType.OPENAI_COMPLETIONS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._policy, self._run_id, self._clock = policy, run_id, clock
        self._dialect, self._shape = DIALECTS[api_type], _SHAPES[api_type]
        self._cache = PromptCache()
        self._faults = Faults(policy.faults)

    async def send(self, call: Outgoing) -> Reply:
        prompt = self._dialect.read_prompt(call.body)
        if call.operation is Operation.COUNT_TOKENS:
            tokens = estimate_tokens(len(prompt_text(prompt)))
            return self._json(200, self._shape.counted(tokens))
        if call.body.get("previous_response_id"):
            return self._error(400, "A scripted model keeps no responses.", "previous_response_not_found")
        move = decide(self._policy, situation_of(prompt))
        fault = self._faults.strike(move.fault)
        if fault is not None and fault.delay_s is not None:
            await asyncio.sleep(fault.delay_s)
        if fault is not None and fault.status is not None:
            return self._failure(fault, fault.status)
        return self._answer(call, self._script(call.body, prompt, move, fault), fault)

    def _script(self, body: Mapping[str, Any], prompt: Prompt, move: Move, fault: Fault | None) -> Script:
        turn = situation_of(prompt).turn
        mark = hashlib.sha256(f"{self._run_id}/{turn}".encode()).hexdigest()[:16]
        if fault is not None and fault.characters is not None:
            move = replace(move, text=_long(move.text or "scripted ", fault.characters))
        text = prompt_text(prompt)
        usage = count(text, self._cache.take(text), move)
        return Script(
            model=f"scripted/{self._policy.name}",
            mark=mark,
            created=int(self._clock()),
            move=move,
            usage=usage if fault is None or fault.usage is None else fault.usage,
            request=body,
            malformed=fault is not None and fault.malformed_call,
        )

    def _answer(self, call: Outgoing, script: Script, fault: Fault | None) -> Reply:
        cut = None if fault is None else fault.cut_after
        pace = None if fault is None else fault.pace_s
        if call.path.endswith(":streamGenerateContent") and isinstance(self._shape, GoogleShape):
            if "alt=sse" not in call.query:
                return self._reply(200, WHOLE, _cut(self._shape.array(script), cut))
            return self._reply(200, STREAM, _cut(self._shape.events(script), cut), pace_s=pace)
        if call.body.get("stream") is True:
            return self._reply(200, STREAM, _cut(self._shape.events(script), cut), pace_s=pace)
        return self._json(200, self._shape.whole(script), cut=cut is not None)

    def _failure(self, fault: Fault, status: int) -> Reply:
        after = [] if fault.retry_after is None else [("retry-after", f"{fault.retry_after:g}")]
        return self._error(status, f"Scripted fault: HTTP {status}.", "scripted_fault", after)

    def _error(self, status: int, message: str, code: str, headers: Headers = ()) -> Reply:
        return self._json(status, self._dialect.error_body(status, message, code), headers)

    def _json(self, status: int, payload: Any, headers: Headers = (), *, cut: bool = False) -> Reply:
        body = json.dumps(payload).encode()
        chunks = _cut([body[: len(body) // 2], body[len(body) // 2 :]], 1 if cut else None)
        return self._reply(status, WHOLE, chunks, [*headers, ("content-length", str(len(body)))])

    def _reply(
        self,
        status: int,
        kind: str,
        chunks: Iterable[bytes],
        headers: Headers = (),
        pace_s: float | None = None,
    ) -> ScriptedReply:
        name = self._policy.name.encode("ascii", "replace").decode()
        given = [("content-type", kind), (SCRIPTED_HEADER, name), *headers]
        return ScriptedReply(status, given, chunks, pace_s)


class ScriptedReply:
    """An answer that is already known."""

    def __init__(
        self, status: int, headers: Headers, chunks: Iterable[bytes], pace_s: float | None = None
    ) -> None:
        self.status, self.headers = status, headers
        self._pace_s = pace_s
        self.notes: dict[str, Any] = {}
        self._chunks = chunks

    async def body(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            if self._pace_s is not None:
                await asyncio.sleep(self._pace_s)
            yield chunk

    async def close(self) -> None:
        pass


def _cut(chunks: Iterable[bytes], after: int | None) -> Iterable[bytes]:
    yield from chunks if after is None else itertools.islice(chunks, after)
    if after is not None:
        raise UnreachableError("a scripted fault cut the answer here")


def _long(text: str, characters: int) -> str:
    return (text * (characters // len(text) + 1))[:characters]
