"""The scripted model as an upstream: same interface as an HTTP API, in this process."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Iterable

from clawbench.gateway.scripted import completion
from clawbench.gateway.scripted.counting import PromptCache, prompt_text, usage_of
from clawbench.gateway.scripted.engine import decide, situation_of
from clawbench.gateway.scripted.policy import Policy
from clawbench.gateway.upstream import Headers, Outgoing, Reply

SCRIPTED_HEADER = "x-clawbench-scripted"


class ScriptedUpstream:
    """Answers the calls of one run from a policy."""

    def __init__(self, policy: Policy, run_id: str) -> None:
        self._policy, self._run_id = policy, run_id
        self._cache = PromptCache()

    async def send(self, call: Outgoing) -> Reply:
        body = call.body
        situation = situation_of(body)
        move = decide(self._policy, situation)
        prompt = prompt_text(body)
        usage = usage_of(prompt, self._cache.take(prompt), move)
        mark = hashlib.sha256(f"{self._run_id}/{situation.turn}".encode()).hexdigest()[:16]
        ids = [f"call_{mark}{number}" for number in range(len(move.calls))]
        head = {
            "id": f"chatcmpl-scripted-{mark}",
            "created": int(time.time()),
            "model": f"scripted/{self._policy.name}",
            "system_fingerprint": completion.FINGERPRINT,
        }
        if body.get("stream") is not True:
            answer = completion.whole(head, move, ids, usage)
            return self._reply("application/json", [answer], len(answer))
        asked = (body.get("stream_options") or {}).get("include_usage")
        events = completion.stream(head, move, ids, usage if asked else None)
        return self._reply("text/event-stream; charset=utf-8", events)

    def _reply(self, kind: str, chunks: Iterable[bytes], length: int | None = None) -> ScriptedReply:
        name = self._policy.name.encode("ascii", "replace").decode()
        headers = [("content-type", kind), (SCRIPTED_HEADER, name)]
        if length is not None:
            headers.append(("content-length", str(length)))
        return ScriptedReply(headers, chunks)


class ScriptedReply:
    """An answer that is already known."""

    status = 200

    def __init__(self, headers: Headers, chunks: Iterable[bytes]) -> None:
        self.headers = headers
        self._chunks = chunks

    async def body(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    async def close(self) -> None:
        pass
