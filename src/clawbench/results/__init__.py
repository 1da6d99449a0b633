"""The vocabulary of results: what a run writes down, and where."""

from clawbench.results.events import (
    Action,
    ActionType,
    Intercepted,
    InterceptedRequest,
    Interception,
    NotIntercepted,
    RequestEntry,
    Target,
)
from clawbench.results.files import JsonLines, read_json_lines, rewrite_lines, write_atomic, write_json
from clawbench.results.layout import RunDirectory, slug
from clawbench.results.llm_calls import CallLog, SharedRequest, read_llm_calls
from clawbench.results.reasons import Cause, FinishReason, Isolation, State, StopReason, Verdict
from clawbench.results.record import Check, Claim, Identified, RunRecord, Score, UsageReport, now
from clawbench.results.reserve import Reserve, cannot_be_kept, claim_room, no_room
from clawbench.results.usage import Metered, Price, Usage, dollars

__all__ = [
    "Action",
    "ActionType",
    "CallLog",
    "Cause",
    "Check",
    "Claim",
    "FinishReason",
    "Identified",
    "Intercepted",
    "InterceptedRequest",
    "Interception",
    "Isolation",
    "JsonLines",
    "Metered",
    "NotIntercepted",
    "Price",
    "RequestEntry",
    "Reserve",
    "RunDirectory",
    "RunRecord",
    "Score",
    "SharedRequest",
    "State",
    "StopReason",
    "Target",
    "Usage",
    "UsageReport",
    "Verdict",
    "cannot_be_kept",
    "claim_room",
    "dollars",
    "no_room",
    "now",
    "read_json_lines",
    "read_llm_calls",
    "rewrite_lines",
    "slug",
    "write_atomic",
    "write_json",
]
