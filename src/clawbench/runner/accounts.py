"""What the gateway measured beside what the harness claims."""

from __future__ import annotations

from clawbench.results import Claim, Metered, UsageReport, dollars


def usage_report(measured: Metered, claim: Claim | None) -> UsageReport:
    """Both accounts and claimed minus measured, for each figure that the harness reports."""
    difference: dict[str, float] = {}
    if claim is not None and claim.usage is not None:
        theirs, ours = claim.usage, measured.usage
        # What neither of them has is in neither dump.
        buckets = {**ours.model_dump(), **theirs.model_dump()}
        difference = {bucket: getattr(theirs, bucket) - getattr(ours, bucket) for bucket in buckets}
    if claim is not None and claim.turns is not None:
        difference["turns"] = claim.turns - measured.turns
    if claim is not None and claim.cost_usd is not None and measured.cost_usd is not None:
        difference["cost_usd"] = dollars(claim.cost_usd - measured.cost_usd)
    return UsageReport(measured=measured, claimed=claim, difference=difference)
