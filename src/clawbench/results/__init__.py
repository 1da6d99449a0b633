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
from clawbench.results.files import (
    JsonLines,
    drop_cut_line,
    json_document,
    read_json_lines,
    record_text,
    rewrite_lines,
    write_atomic,
    write_json,
)
from clawbench.results.layout import RunDirectory, slug
from clawbench.results.llm_calls import CallLog, SharedRequest, read_llm_calls
from clawbench.results.reasons import Cause, FinishReason, Isolation, State, StopReason, Verdict
from clawbench.results.record import Check, Claim, Identified, RunOptions, RunRecord, Score, UsageReport, now
from clawbench.results.replay import Divergence, ReplayMode, ReplayOutcome, ReplayReport
from clawbench.results.reserve import Reserve, cannot_be_kept, claim_room, no_room
from clawbench.results.sameness import first_action_apart, same_patch
from clawbench.results.usage import Metered, Price, Usage, dollars

__all__ = [
    "Action",
    "ActionType",
    "CallLog",
    "Cause",
    "Check",
    "Claim",
    "Divergence",
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
    "ReplayMode",
    "ReplayOutcome",
    "ReplayReport",
    "RequestEntry",
    "Reserve",
    "RunDirectory",
    "RunOptions",
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
    "drop_cut_line",
    "first_action_apart",
    "json_document",
    "no_room",
    "now",
    "read_json_lines",
    "read_llm_calls",
    "record_text",
    "rewrite_lines",
    "same_patch",
    "slug",
    "write_atomic",
    "write_json",
]
