"""agent-messages.jsonl, made from traffic: each message once, side conversations told apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clawbench.gateway.exchange import Answer, Prompt
from clawbench.gateway.threads import Thread, View, message_key, tools_key
from clawbench.results import now

VERSION = 1
MOST_THREADS = 64
"""What is remembered of conversations beside the main one: the last ones used."""
MOST_UNDECIDED = 8
MOST_KEPT = 256
Line = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where in the conversation an answer belongs."""

    thread: Thread
    view: View
    kept_as: str | None = None


class Conversation:
    """Writes down what is new in each call of a run."""

    def __init__(self, append: Callable[[Line], None], session: Line) -> None:
        self._append = append
        self._threads: list[Thread] = []
        self._numbers = itertools.count()
        self._main: Thread | None = None
        self._held: list[tuple[Thread, Line]] = []
        self._kept: dict[str, Place] = {}
        append({"type": "session", "version": VERSION, **session, "timestamp": now()})

    def ask(self, prompt: Prompt) -> Place:
        """Note what the harness sent that no call had shown before."""
        before = self._kept.get(prompt.continues or "")
        unsent = list(before.view.keys) if before is not None else []
        keys = unsent + [message_key(message) for message in prompt.messages]
        thread = self._thread_of(prompt, keys) if before is None else self._go_on(before.thread)
        self._note_setting(thread, prompt)
        view, new = thread.look(keys)
        for position in new:
            if position >= len(unsent):
                message = prompt.messages[position - len(unsent)]
                self._write(thread, {"type": "message", "timestamp": now(), "message": message})
        return Place(thread, view, prompt.kept_as)

    def answer(self, place: Place, answer: Answer, **marks: Any) -> None:
        """Note the model's answer; `marks` go into the line beside it."""
        for name in {answer.id, place.kept_as} - {None}:
            self._keep(str(name), place)
        if not answer.content:
            return
        message = {"role": "assistant", "content": answer.content}
        place.view.keys.append(message_key(message))
        place.view.answered = True
        self._write(place.thread, {"type": "message", "timestamp": now(), "message": message, **marks})

    def close(self) -> None:
        """Write what was held back while it was open which conversation is the main one."""
        if self._main is None and self._threads:
            self._settle(self._first())

    def _thread_of(self, prompt: Prompt, keys: list[str]) -> Thread:
        found, kinship = None, 0
        for thread in sorted(self._threads, key=lambda thread: thread.number):
            if (near := thread.kinship(prompt, keys)) > kinship:
                found, kinship = thread, near
        known = found is not None
        found = self._use(found or Thread(next(self._numbers)))
        if self._main is None and (known or prompt.tools):
            self._settle(found)
        elif self._main is None and len(self._threads) > MOST_UNDECIDED:
            self._settle(self._first())
        self._forget_all_but(MOST_THREADS)
        return found

    def _go_on(self, thread: Thread) -> Thread:
        if self._main is None:
            self._settle(thread)
        return self._use(thread)

    def _use(self, thread: Thread) -> Thread:
        self._threads = [*(other for other in self._threads if other is not thread), thread]
        return thread

    def _keep(self, name: str, place: Place) -> None:
        """The provider keeps what was said up to here under this name."""
        self._kept.pop(name, None)
        self._kept[name] = place
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def _forget_all_but(self, most: int) -> None:
        if len(self._threads) > most:
            self._threads.remove(next(thread for thread in self._threads if thread is not self._main))

    def _first(self) -> Thread:
        return min(self._threads, key=lambda thread: thread.number)

    def _settle(self, main: Thread) -> None:
        self._main = main
        held, self._held = self._held, []
        for thread, line in held:
            self._write(thread, line)

    def _note_setting(self, thread: Thread, prompt: Prompt) -> None:
        if prompt.system != thread.system:
            thread.system = prompt.system
            self._write(thread, {"type": "system", "timestamp": now(), "text": prompt.system})
        if tools_key(prompt) != thread.tools:
            thread.tools = tools_key(prompt)
            self._write(thread, {"type": "tools", "timestamp": now(), "tools": prompt.tools})

    def _write(self, thread: Thread, line: Line) -> None:
        if self._main is None:
            # A first call without tools may be a side call (a title): a second one will tell.
            self._held.append((thread, line))
        elif thread is self._main:
            self._append(line)
        else:
            self._append({**line, "side": True, "thread": thread.number})
