"""Accounting for calls that were under way when their process was killed."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from typing import Any

from clawbench.gateway.call import Call
from clawbench.gateway.doors import Door, find_door
from clawbench.gateway.meter import measure, price_of
from clawbench.gateway.open_call import CutOffCall, OpenCall, cut_off_calls
from clawbench.gateway.prices import PriceList
from clawbench.gateway.replay.record import KILLED
from clawbench.results import (
    JsonLines,
    Metered,
    Price,
    RunDirectory,
    SharedRequest,
    Usage,
    dollars,
    drop_cut_line,
    read_llm_calls,
)
from clawbench.results.llm_calls import written_out


def account_for_cut_off_calls(run: RunDirectory, price: Price | None, *, scripted: bool) -> Metered:
    """Write a line for each call that has none, counted as far as it came; returns what the run used."""
    lines = list(read_llm_calls(run.llm_calls)) if run.llm_calls.is_file() else []
    requests = {str(line.get("id")): line.get("request") for line in lines}
    if run.llm_calls.is_file():
        drop_cut_line(run.llm_calls)
    log = JsonLines(run.llm_calls)
    for left in list(cut_off_calls(run.open_calls)):
        if left.head["id"] not in requests:
            line = _line(left, requests, price, scripted=scripted)
            log.append(line)
            lines.append(line)
    log.close()
    shutil.rmtree(run.open_calls, ignore_errors=True)
    return metered(lines, priced=price is not None, scripted=scripted)


def metered(lines: Iterable[dict[str, Any]], *, priced: bool, scripted: bool) -> Metered:
    """What llm-calls.jsonl adds up to."""
    calls = [line for line in lines if not line.get("refused") and "operation" not in line]
    used = [Usage.model_validate(line["usage"]) for line in calls if line.get("usage")]
    costs = [line.get("cost_usd") for line in calls if line.get("usage")]
    known = priced and None not in costs
    answered = [line["ttft_s"] for line in calls if line.get("ttft_s") is not None]
    billed = [line["billed_usd"] for line in calls if line.get("billed_usd") is not None]
    return Metered(
        calls=len(calls),
        turns=sum(line.get("error") is None and not line.get("aborted") for line in calls),
        errors=sum(line.get("error") is not None for line in calls),
        usage=sum(used, Usage()),
        cost_usd=dollars(sum(cost or 0.0 for cost in costs)) if known else None,
        latency_s=sum(line.get("duration_s") or 0.0 for line in calls),
        ttft_s=sum(answered),
        answered=len(answered),
        billed_usd=dollars(sum(billed)) if billed else None,
        retries=sum("retry" in line for line in calls),
        unpriced=dict(sum((Counter(line.get("unpriced", {})) for line in calls), Counter())),
        scripted=scripted,
        replayed=sum("replayed" in line for line in calls),
        replayed_cost_usd=dollars(sum(line.get("recorded_cost_usd") or 0.0 for line in calls)),
    )


def _line(
    left: CutOffCall, requests: dict[str, Any], price: Price | None, *, scripted: bool
) -> dict[str, Any]:
    call = _call(left, requests)
    answer = call.end()
    usage, estimated = measure(call, answer)
    cost = price_of(call, usage, answer, None if price is None else PriceList(price))
    call.began, call.ended = 0.0, max(0.0, left.path.stat().st_mtime - call.started)
    marks = call.marks(answer, cost.unpriced, estimated=estimated)
    return call.line(usage, cost.usd, model=answer.model, scripted=scripted, **marks)


def _call(left: CutOffCall, requests: dict[str, Any]) -> Call:
    head, answer = left.head, left.answer
    door = find_door("POST", head["path"])
    assert isinstance(door, Door), "a call under way had come through one"
    request = written_out(head["request"], requests, left.path, 1)
    return Call(
        id=head["id"],
        door=door,
        upstream_path=head["path"],
        query=head.get("query", ""),
        request=request,
        set_fields=head.get("set", {}),
        prompt=door.dialect.read_prompt(request),
        place=None,
        shared=SharedRequest(head["request"], {}),
        on_disk=OpenCall.nowhere(),
        started=head["started"],
        status=answer.get("status"),
        headers=[(name, value) for name, value in answer.get("headers", ())],
        streamed=answer.get("streamed", False),
        chunks=[left.body] if left.body else [],
        aborted=KILLED,
        retry=head.get("retry", False),
        notes=answer.get("notes", {}),
    )
