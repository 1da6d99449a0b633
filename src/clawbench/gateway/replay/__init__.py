"""Answers of an earlier run for the calls of a new one, matched by what they say."""

from clawbench.gateway.replay.record import RecordedCall, read_record
from clawbench.gateway.replay.upstream import RecordedUpstream, ReplayPlan

__all__ = ["RecordedCall", "RecordedUpstream", "ReplayPlan", "read_record"]
