"""Looking at all parts at once, and refusing to start without those that are needed."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from clawbench.doctor.part import Finding, Part, Status
from clawbench.doctor.parts import PARTS, PURPOSES
from clawbench.errors import MissingPartError


def examine(needed_for: Collection[str] | None = None) -> list[tuple[Part, Finding]]:
    """Check every part, or those needed for any of the given purposes, side by side."""
    wanted = PURPOSES if needed_for is None else frozenset(needed_for)
    if unknown := wanted - PURPOSES:
        raise ValueError(f"nothing is needed for {', '.join(sorted(unknown))}: choose of {sorted(PURPOSES)}")
    parts = [part for part in PARTS if part.needed_for & wanted]
    with ThreadPoolExecutor(max_workers=len(parts) or 1) as pool:
        return list(zip(parts, pool.map(lambda part: part.check(), parts), strict=True))


def check_part(name: str) -> Finding:
    """What is found when looking for one part alone."""
    return next(part for part in PARTS if part.name == name).check()


def require(*needed_for: str) -> None:
    """Raise MissingPartError unless everything these purposes need is there."""
    missing = [(part, found) for part, found in examine(needed_for) if found.status is Status.MISSING]
    if not missing:
        return
    part, finding = missing[0]
    remedy = f"{finding.detail[:1].upper()}{finding.detail[1:]}. {_what_to_do(part, finding)}"
    if others := ", ".join(other.name for other, _ in missing[1:]):
        remedy += f". Also missing: {others}; `clawbench doctor` tells more"
    raise MissingPartError(part.name, part.why, remedy)


def _what_to_do(part: Part, finding: Finding) -> str:
    if not finding.installing_helps:
        return finding.remedy
    return f"Run {'`clawbench doctor --fix`, or: ' if part.required else ''}{finding.remedy}"
