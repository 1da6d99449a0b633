"""Which recorded answer belongs to a request: the one whose question says the same. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from clawbench.gateway.dialects import Dialect
from clawbench.gateway.replay.normal import Normaliser
from clawbench.gateway.replay.record import RecordedCall


class Library:
    """The calls of a record; each answer is given once, those to equal questions in recorded order."""

    def __init__(self, calls: Sequence[RecordedCall], dialect: Dialect, normaliser: Normaliser) -> None:
        self._dialect, self._normaliser = dialect, normaliser
        self._unused: dict[str, RecordedCall] = {call.id: call for call in calls}
        self._by_question: dict[str, deque[RecordedCall]] = {}
        for call in calls:
            key = self.key(call.path, call.query, call.request)
            self._by_question.setdefault(key, deque()).append(call)
        self._times = {key: len(queue) for key, queue in self._by_question.items()}

    def key(self, path: str, query: str, request: Mapping[str, Any]) -> str:
        """Equal for two questions that say the same."""
        asked = [kind_of(path), query, self._normaliser.request(request)]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def take(self, path: str, query: str, request: Mapping[str, Any]) -> RecordedCall | None:
        """The next answer to this question."""
        queue = self._by_question.get(self.key(path, query, request))
        while queue:
            call = queue.popleft()
            if self._unused.pop(call.id, None) is not None:
                return call
        return None

    def times(self, path: str, query: str, request: Mapping[str, Any]) -> int:
        """How often this question is on record, its answers used or not."""
        return self._times.get(self.key(path, query, request), 0)

    def use(self, call: RecordedCall) -> None:
        """Count an answer as given though its question was another."""
        self._unused.pop(call.id, None)

    def unused(self) -> list[RecordedCall]:
        return list(self._unused.values())

    def nearest(self, path: str, request: Mapping[str, Any]) -> RecordedCall | None:
        """The unused call that shares most of the conversation; of equals the first."""
        same_kind = [call for call in self._unused.values() if kind_of(call.path) == kind_of(path)]
        candidates = same_kind or list(self._unused.values())
        mine = self._messages(request)
        return max(candidates, key=lambda call: self._shared(mine, call), default=None)

    def _shared(self, mine: list[str], call: RecordedCall) -> int:
        shared = 0
        for one, other in zip(mine, self._messages(call.request), strict=False):
            if one != other:
                break
            shared += 1
        return shared

    def _messages(self, request: Mapping[str, Any]) -> list[str]:
        prompt = self._dialect.read_prompt(request)
        messages = [{"system": prompt.system}, *prompt.messages]
        return [json.dumps(self._normaliser.value(message), sort_keys=True) for message in messages]


def kind_of(path: str) -> str:
    """A path without the model that Google's have in them."""
    return path.rpartition(":")[2]
