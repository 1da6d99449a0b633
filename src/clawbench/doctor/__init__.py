"""What this machine has, what Clawbench needs of it, and how to get what is missing."""

from clawbench.doctor.browser import find_browser
from clawbench.doctor.examination import check_part, examine, require
from clawbench.doctor.part import Finding, Part, Status
from clawbench.doctor.parts import PARTS, PURPOSES, REMOTE
from clawbench.doctor.repair import fix
from clawbench.doctor.toolchains import VISIBLE
from clawbench.doctor.viewing import find_novnc

__all__ = [
    "PARTS",
    "PURPOSES",
    "REMOTE",
    "VISIBLE",
    "Finding",
    "Part",
    "Status",
    "check_part",
    "examine",
    "find_browser",
    "find_novnc",
    "fix",
    "require",
]
