"""A record as an upstream: gives the answers of an earlier run to the calls of this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from clawbench.gateway.dialects import DIALECTS
from clawbench.gateway.replay.difference import first_difference
from clawbench.gateway.replay.library import Library
from clawbench.gateway.replay.normal import Normaliser
from clawbench.gateway.replay.record import RecordedCall
from clawbench.gateway.upstream import Headers, Outgoing, Reply, RunEndsError, UnreachableError, Upstream
from clawbench.models import ApiType
from clawbench.results import Divergence, Price, ReplayMode, ReplayOutcome, StopReason

GRACE_S = 5.0
"""How long a call beyond the record's end is held: mostly something else ends the run meanwhile, as it did
when it was recorded."""
ORDERLY = frozenset((StopReason.TIME_LIMIT, StopReason.IDLE, StopReason.BUDGET, StopReason.MODEL_UNREACHABLE))
"""What ends a replay where it ended the recorded run."""
AT_ITS_END = frozenset((StopReason.INTERCEPTED, StopReason.AGENT_EXITED))


@dataclass(frozen=True)
class ReplayPlan:
    """A record, and what to do with it."""

    calls: Sequence[RecordedCall]
    mode: ReplayMode
    run_id: str = ""
    stop_reason: StopReason | None = None
    """What ended the recorded run; None where it was killed."""
    price: Price | None = None
    missing: int = 0
    """Calls that the recorded run made and that are not in the record."""

    @property
    def goes_live(self) -> bool:
        """The model itself may have to answer."""
        return self.mode is ReplayMode.THEN_LIVE


@dataclass
class ReplayState:
    """How far a replay has come."""

    replayed: int = 0
    live: int = 0
    live_from: str | None = None
    divergence: Divergence | None = None
    divergences: int = 0
    ended: bool = False
    """The record was used up where the recorded run had been broken off."""


class RecordedUpstream:
    """Answers from a record; where it has none, as its plan says."""

    def __init__(
        self, plan: ReplayPlan, run_id: str, api_type: ApiType, live: Upstream | None = None
    ) -> None:
        self._plan, self._live = plan, live
        self._dialect = DIALECTS[api_type]
        self._normaliser = Normaliser((plan.run_id, run_id))
        self._library = Library(plan.calls, self._dialect, self._normaliser)
        self.progress = ReplayState()

    @property
    def goes_live(self) -> bool:
        return self._live is not None

    def outcome(self) -> tuple[ReplayOutcome, list[RecordedCall]]:
        """How the replay went, and the recorded calls that nobody asked for."""
        left = [call for call in self._library.unused() if call.cut_off_by is None]
        if self.progress.divergence is not None:
            return ReplayOutcome.DIVERGED, left
        if self.progress.ended:
            return ReplayOutcome.RECORD_ENDED, left
        return (ReplayOutcome.INCOMPLETE if left else ReplayOutcome.SAME), left

    async def send(self, call: Outgoing) -> Reply:
        if self.progress.live_from is not None:
            return await self._ask_live(call)
        found = self._library.take(call.path, call.query, call.asked)
        if found is None:
            return await self._without_answer(call)
        if found.cut_off_by is not None and self._live is not None:
            self.progress.ended = True
            return await self._ask_live(call)
        return await self._answer(found)

    async def _answer(self, found: RecordedCall) -> Reply:
        self.progress.replayed += 1
        if found.status is not None:
            return RecordedReply(found, found.status, self)
        if found.cut_off_by is not None:
            await self.hold(found)
        raise UnreachableError(found.failure or f"broken off by {found.cut_off_by} in the recorded run")

    async def _ask_live(self, call: Outgoing) -> Reply:
        assert self._live is not None
        self.progress.live_from = self.progress.live_from or call.id
        self.progress.live += 1
        return await self._live.send(call)

    async def _without_answer(self, call: Outgoing) -> Reply:
        nearest = self._library.nearest(call.path, call.asked)
        if nearest is None and (self._plan.missing or self._plan.stop_reason not in AT_ITS_END):
            self.progress.ended = True
            if self._live is not None:
                return await self._ask_live(call)
            raise self._end(f"all {len(self._plan.calls)} recorded calls are answered")
        if nearest is None and self._live is None:
            await asyncio.sleep(GRACE_S)
        divergence = self._diverge(call, nearest)
        if self._live is not None:
            return await self._ask_live(call)
        if self._plan.mode is ReplayMode.GO_ON and nearest is not None:
            self._library.use(nearest)
            return await self._answer(nearest)
        raise RunEndsError(StopReason.ERROR, f"The replay diverged at {call.id}: {divergence.explanation}")

    def _diverge(self, call: Outgoing, nearest: RecordedCall | None) -> Divergence:
        divergence = self._describe(call, nearest)
        self.progress.divergences += 1
        self.progress.divergence = self.progress.divergence or divergence
        return divergence

    def _describe(self, call: Outgoing, nearest: RecordedCall | None) -> Divergence:
        if times := self._library.times(call.path, call.query, call.asked):
            asked = f"this was asked {times} time{'s' * (times > 1)} in the recorded run, and now once more"
            return Divergence(call=call.id, recorded=nearest.id if nearest else None, explanation=asked)
        if nearest is None:
            more = f"the recorded agent asked nothing more after its {len(self._plan.calls)} calls"
            return Divergence(call=call.id, explanation=more)
        found = first_difference(
            nearest.request, call.asked, self._dialect, self._normaliser, f"recorded {nearest.id}"
        )
        what = f"{found.part} is not as in {nearest.id} of the record"
        return Divergence(
            call=call.id, recorded=nearest.id, part=found.part, explanation=what, diff=found.diff
        )

    async def hold(self, call: RecordedCall) -> None:
        """Leave a call open that was broken off; end the run if nobody breaks it off this time."""
        by_harness = call.cut_off_by == "harness"
        await asyncio.sleep(GRACE_S + (call.duration_s if by_harness else 0.0))
        if by_harness and self._library.unused():
            return
        self.progress.ended = True
        raise self._end(f"{call.id} was broken off by {call.cut_off_by}")

    def _end(self, why: str) -> RunEndsError:
        reason, missing = self._plan.stop_reason, self._plan.missing
        if missing:
            gone = f"{missing} more that the recorded run made {'is' if missing == 1 else 'are'} not in it"
            return RunEndsError(StopReason.ERROR, f"The record ends here: {why}; {gone}")
        if reason in ORDERLY:
            return RunEndsError(reason, f"As in the recorded run, which ended here ({why})")
        ended = f"ended with `{reason.value}`" if reason is not None else "was killed"
        return RunEndsError(StopReason.ERROR, f"The record ends here: {why}, and the recorded run {ended}")


class RecordedReply:
    """An answer on record, in its pieces."""

    def __init__(self, call: RecordedCall, status: int, upstream: RecordedUpstream) -> None:
        self._call, self._upstream = call, upstream
        self.status = status
        self.headers: Headers = call.headers
        self.notes: dict[str, Any] = {"replayed": call.id, "recorded_cost_usd": call.cost_usd}

    async def body(self) -> AsyncIterator[bytes]:
        for chunk in self._call.chunks:
            yield chunk
        if self._call.cut_off_by is not None:
            await self._upstream.hold(self._call)
            raise UnreachableError(f"broken off by {self._call.cut_off_by} in the recorded run")
        if self._call.failure is not None:
            raise UnreachableError(self._call.failure)

    async def close(self) -> None:
        pass
