"""The meter of one run: its token, its budget, what it used, and its two files."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from clawbench.gateway.budget import BatchBudget, Budget
from clawbench.gateway.call import Call
from clawbench.gateway.conversation import Conversation
from clawbench.gateway.dialects import Operation
from clawbench.gateway.doors import Door
from clawbench.gateway.exchange import Answer
from clawbench.gateway.open_call import OpenCall
from clawbench.gateway.outage import Outage
from clawbench.gateway.prices import Cost, PriceList
from clawbench.gateway.redaction import Redactor
from clawbench.gateway.replay import RecordedUpstream
from clawbench.gateway.retries import Retries, invites_another_try
from clawbench.gateway.room import FIRST_ALONE_S, Room
from clawbench.gateway.upstream import Upstream
from clawbench.gateway.usage import estimate_tokens
from clawbench.models import Model
from clawbench.results import (
    CallLog,
    JsonLines,
    Metered,
    Price,
    RunDirectory,
    SharedRequest,
    StopReason,
    Usage,
    cannot_be_kept,
    dollars,
)


class BudgetSpentError(Exception):
    """The run may make no further call."""


class Meter:
    """Counts, prices, limits and records the model calls of one run."""

    def __init__(
        self,
        *,
        run_id: str,
        model: Model,
        run: RunDirectory,
        budget: Budget,
        upstream: Upstream,
        prices: PriceList | None,
        redactor: Redactor,
        batch: BatchBudget,
        on_change: Callable[[], None] | None = None,
        on_close: Callable[[Meter], None] | None = None,
    ) -> None:
        self.run_id, self.model, self.upstream = run_id, model, upstream
        self.token = f"cb-{secrets.token_urlsafe(24)}"
        free = isinstance(upstream, RecordedUpstream) and not upstream.goes_live
        unknown = prices is None and not free
        self.metered = Metered(scripted=model.scripted, cost_usd=None if unknown else 0.0)
        self.price: Price | None = None if prices is None else prices.base
        self.calls_under_way = 0
        self.estimated_calls = 0
        """Calls whose tokens nobody reported (broken off, or a server that does not count)."""
        self.last_activity = time.monotonic()
        self.closed = False
        self._budget, self._batch, self._prices, self._redactor = budget, batch, prices, redactor
        self._on_change, self._on_close = on_change, on_close
        self._outage, self._retries, self._room = Outage(), Retries(), Room()
        self._numbers = itertools.count(1)
        self._begun = 0
        self._stop: tuple[StopReason, str] | None = None
        self._stopped = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], Call] = {}
        self._open_calls = run.open_calls
        self._calls_file = CallLog(run.llm_calls)
        self._messages_file = JsonLines(run.messages)
        session = {"id": run_id, "model": model.name, "scripted": model.scripted}
        self._conversation = Conversation(lambda line: self._keep(self._messages_file, line), session)
        batch.join(self._batch_spent)
        batch.announce()

    def __repr__(self) -> str:
        return f"Meter(run_id={self.run_id!r}, model={self.model.name!r}, calls={self.metered.calls})"

    @property
    def last_failure(self) -> str | None:
        """What the model's API said to the last call, if that failed; None after a good one."""
        return self._outage.last_failure

    async def stop_signal(self) -> tuple[StopReason, str]:
        """Wait until the run must end: a cap was reached, or the model cannot be reached."""
        await self._stopped.wait()
        assert self._stop is not None
        return self._stop

    def go_on(self) -> None:
        """Listen for the next stop: there is no run that this one ended."""
        self._stop = None
        self._stopped.clear()

    def end_run(self, reason: StopReason, description: str) -> None:
        """Have the run end: the upstream has nothing more to say."""
        self._signal(reason, description)

    async def close(self) -> None:
        """Revoke the token, break off open calls, finish the files."""
        if self.closed:
            return
        self.closed = True
        self._batch.quit(self._batch_spent)
        if self._on_close is not None:
            self._on_close(self)
        tasks = dict(self._tasks)
        for task, call in tasks.items():
            call.aborted = call.aborted or "end of run"
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._conversation.close()
        self._calls_file.close()
        self._messages_file.close()
        with contextlib.suppress(OSError):
            self._open_calls.rmdir()

    async def room(self) -> None:
        """Wait while calls under way may use up what is left of a cap: they are paid for in any case."""
        patient_until = time.monotonic() + FIRST_ALONE_S
        while not self.closed and self._refusal() is None:
            left = patient_until - time.monotonic()
            crowded = [room for room, spent in self._caps() if room.crowded(spent, patient=left > 0)]
            if not crowded:
                return
            await crowded[0].next_end(left if left > 0 else FIRST_ALONE_S)

    def _caps(self) -> list[tuple[Room, float]]:
        """Each cap on what is only known afterwards, and how much of it is gone."""
        own = self._budget.share(self.metered.cost_usd, self.metered.usage.total)
        together = self._batch.share(self._batch.used_usd)
        both = ((self._room, own), (self._batch.room, together))
        return [(room, share) for room, share in both if share is not None]

    def begin(self, door: Door, request: dict[str, Any], query: str = "") -> Call:
        """Admit a call; raises BudgetSpentError where the run has used what it may."""
        generates = door.operation is Operation.GENERATE
        if generates and (refusal := self._refusal()):
            self.refuse(door.path, 402, refusal)
            self._signal(StopReason.BUDGET, refusal)
            raise BudgetSpentError(refusal)
        call = self._call(door, request, query)
        if generates:
            self._begun += 1
            self._room.begin()
            self._batch.room.begin()
        self.calls_under_way += 1
        self._changed()
        return call

    def _refusal(self) -> str | None:
        return self._budget.refuses(self.metered, self._begun) or self._batch.spent

    def _call(self, door: Door, request: dict[str, Any], query: str) -> Call:
        shown = self._redactor.value(request)
        prompt = door.dialect.read_prompt(shown)
        generates = door.operation is Operation.GENERATE
        settings = door.dialect.settings_for(request, self.model)
        # Counting knows no settings but the model.
        settings = settings if generates else {k: v for k, v in settings.items() if k == "model"}
        call_id = f"call-{next(self._numbers):05d}"
        shared = self._calls_file.share(call_id, shown)
        retry = generates and self._retries.repeats(door.path, shown)
        head = {"id": call_id, "started": time.time(), "path": door.path, "query": query}
        return Call(
            id=call_id,
            door=door,
            upstream_path=door.dialect.upstream_path(door.path, self.model),
            query=query,
            request=shown,
            set_fields=settings,
            prompt=prompt,
            place=self._conversation.ask(prompt) if generates else None,
            shared=shared,
            retry=retry,
            on_disk=OpenCall(
                self._open_calls, {**head, "request": shared.value, "set": settings, "retry": retry}
            ),
        )

    def track(self, call: Call, task: asyncio.Task[None]) -> None:
        """Follow the task that carries a call: `close` breaks it off, its end releases the call."""
        self._tasks[task] = call
        task.add_done_callback(self._release)

    def refuse(self, path: str, status: int, why: str) -> None:
        """Write down a request that was turned away and never became a call."""
        if not self.closed:
            line = {"id": f"refused-{next(self._numbers):05d}", "started": time.time(), "path": path}
            self._keep(self._calls_file, {**line, "status": status, "error": why, "refused": True})

    def account(self, call: Call) -> None:
        """Count a call that has ended, however it ended, and write it down."""
        answer = call.end()
        usage, estimated = measure(call, answer)
        cost = price_of(call, usage, answer, self._prices)
        if call.generates:
            self._add(call, usage, cost, None if call.replayed else answer.billed_usd)
        self.estimated_calls += estimated
        self._outage.note(
            status=call.status,
            unreachable=call.unreachable,
            error=call.error,
            body=call.raw if call.error else b"",
        )
        if call.place is not None:
            self._conversation.answer(call.place, answer, **({} if call.usable else {"incomplete": True}))
        marks = call.marks(answer, cost.unpriced, estimated=estimated)
        line = call.line(usage, cost.usd, model=answer.model, scripted=self.model.scripted, **marks)
        self._keep(self._calls_file, line, call.shared)
        call.on_disk.close()

    def _release(self, task: asyncio.Task[None]) -> None:
        """The harness has its answer: now a cap that was reached may end the run."""
        call = self._tasks.pop(task)
        if call.ended is None:
            # Broken off before the task took its first step.
            self.account(call)
        self.calls_under_way -= 1
        if call.generates:
            self._room.end()
            self._batch.room.end()
        if spent := self._budget.spent(self.metered):
            self._signal(StopReason.BUDGET, spent)
        elif outage := self._outage.verdict:
            self._signal(StopReason.MODEL_UNREACHABLE, outage)
        self._batch.announce()
        self._changed()

    def _add(self, call: Call, usage: Usage | None, cost: Cost, billed_usd: float | None) -> None:
        again = invites_another_try(call.status, unreachable=call.unreachable)
        self._retries.note(call.door.path, call.request, failed=again)
        # A call without usage was not answered: it costs nothing. One with usage and no cost is unknown.
        charged = 0.0 if usage is None else cost.usd
        self._batch.add(charged)
        if usage is not None:
            self._room.learn(self._budget.share(charged, usage.total))
            self._batch.room.learn(self._batch.share(charged))
        before = self.metered
        ttft = call.ttft_s
        self.metered = before.model_copy(
            update={
                "calls": before.calls + 1,
                "turns": before.turns + call.usable,
                "errors": before.errors + (call.error is not None),
                "usage": before.usage if usage is None else before.usage + usage,
                "cost_usd": _sum(before.cost_usd, charged),
                "latency_s": before.latency_s + call.duration_s,
                "replayed": before.replayed + call.replayed,
                "replayed_cost_usd": dollars(before.replayed_cost_usd + call.recorded_cost_usd),
                "ttft_s": before.ttft_s + (ttft or 0.0),
                "answered": before.answered + (ttft is not None),
                "billed_usd": before.billed_usd
                if billed_usd is None
                else dollars((before.billed_usd or 0.0) + billed_usd),
                "retries": before.retries + call.retry,
                "unpriced": dict(Counter(before.unpriced) + Counter(cost.unpriced)),
            }
        )

    def _keep(self, file: JsonLines, line: dict[str, Any], request: SharedRequest | None = None) -> None:
        """A record with gaps is none: where a line cannot be written, the run ends."""
        try:
            file.append(line)
            if request is not None:
                self._calls_file.remember(request)
        except OSError as error:
            self._signal(StopReason.ERROR, cannot_be_kept(f"{file.path}: {error.strerror}"))

    def _batch_spent(self, description: str) -> None:
        self._signal(StopReason.BUDGET, description)

    def _signal(self, reason: StopReason, description: str) -> None:
        if self._stop is None:
            self._stop = (reason, description)
            self._stopped.set()

    def _changed(self) -> None:
        self.last_activity = time.monotonic()
        if self._on_change is not None:
            self._on_change()


def _sum(before: float | None, more: float | None) -> float | None:
    return None if before is None or more is None else dollars(before + more)


def price_of(call: Call, usage: Usage | None, answer: Answer, prices: PriceList | None) -> Cost:
    """What a call cost; what comes from a record is free."""
    if call.replayed:
        return Cost(0.0, {})
    if usage is None or prices is None:
        return Cost(None, {})
    return prices.price_call(usage, answer.service_tier, answer.uses)


def measure(call: Call, answer: Answer) -> tuple[Usage | None, bool]:
    """What a call used, and whether that is an estimate."""
    if answer.usage is not None and answer.usage_final:
        return answer.usage, False
    if not call.generates or call.status is None or call.status >= 400 or not call.chunks:
        return None, False
    written = estimate_tokens(answer.characters)
    if answer.usage is not None:
        # Broken off: what was sent is known, what was written only as far as it was seen.
        return answer.usage.model_copy(update={"output": max(answer.usage.output, written)}), True
    return Usage(input=estimate_tokens(call.prompt.characters), output=written), True
