"""`clawbench harness check`: small real runs with a scripted model that show what works of a harness."""

from clawbench.runner.checking.check import check_harness
from clawbench.runner.checking.findings import Checked, Finding, KindChecked, Status

__all__ = ["Checked", "Finding", "KindChecked", "Status", "check_harness"]
