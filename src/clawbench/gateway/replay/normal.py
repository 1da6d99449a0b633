"""What two requests have in common when the same run is made twice: all but ids, times, ports, temporary
names and places on the screen. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

ID_FIELDS = frozenset(
    (
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "item_id",
        "request_id",
        "session_id",
        "user_id",
        "trace_id",
        "response_id",
        "previous_response_id",
    )
)
PASSING_FIELDS = frozenset(("model", "user", "metadata", "prompt_cache_key", "safety_identifier"))
"""Of a request: the model is set by the gateway, the others tell the provider who asks."""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_ZONE = r"(?:\s?(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?"
_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"data:([\w/+.-]+);base64,[A-Za-z0-9+/=_-]+", r"‹\1›"),
    (r"[A-Za-z0-9+/_-]{200,}={0,2}", "‹binary›"),
    (r"(?:/[^\s/\"'`]+)*/clawbench-[a-z0-9_]{8}(?:/[0-9a-f]{12}\b)?", "‹scratch›"),
    (
        r"(?<![\w.])(?:/private)?(?:/var/folders/[^\s/]+/[^\s/]+/T|(?:/var)?/tmp|/dev/shm)/[^\s/\"'`:,;)\]}>]+",
        "‹temp›",
    ),
    (r"(/tmp)/[^\s/\"'`:,;)\]}>]+", r"\1/‹temp›"),
    (r"\btmp(?:[a-z0-9_]{8}|\.[A-Za-z0-9]{6,12})\b", "‹temp›"),
    (r"\bcb-[A-Za-z0-9_-]{32}(?![A-Za-z0-9_-])", "‹token›"),
    (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "‹uuid›"),
    (
        r"\b(?:call|toolu|msg|resp|chatcmpl|fc|rs|req|sess|session|run|item|thread)[_-](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{8,}",
        "‹id›",
    ),
    (r"(127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\]):\d{2,5}\b", r"\1:‹port›"),
    (rf"\b{_DAY}{_MONTH}\s+\d{{1,2}}\s+{_CLOCK}(?:\s[A-Z]{{3,4}})?\s\d{{4}}{_ZONE}", "‹date›"),
    (rf"\b\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}{_ZONE})?", "‹date›"),
    (rf"\b(?:{_DAY})?\d{{1,2}}(?:st|nd|rd|th)?[ -]{_MONTH},?[ -]\d{{4}}\b", "‹date›"),
    (rf"\b(?:{_DAY})?{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?", "‹date›"),
    (r"\b\d{1,2}/\d{1,2}/\d{2,4}\b", "‹date›"),
    (rf"\b{_CLOCK}{_ZONE}", "‹time›"),
    (r"\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b", "‹time›"),
    (r"\b(?:\d+m)?\d+\.\d+\s?(?:s|secs?|seconds?)\b|\b\d+(?:\.\d+)?\s?(?:ns|µs|μs|us|ms)\b", "‹duration›"),
    (r"(?:\d+(?:\.\d+)?\s?(?:–|-|x|×|to|of)\s?)*\b\d+(?:\.\d+)?\s?px\b", "‹pixels›"),
    (r"\b0x[0-9a-fA-F]{6,}\b", "‹address›"),
    (r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b", "‹hex›"),
    (r"\b(pid)([ =:]+)\d+\b", r"\1\2‹pid›"),
)
_COMPILED = [(re.compile(pattern), replacement) for pattern, replacement in _PATTERNS]


class Normaliser:
    """Remembers what it has seen: each request repeats the one before."""

    def __init__(self, run_specific: Iterable[str] = ()) -> None:
        """`run_specific`: strings that belong to one of the runs only, such as its id."""
        names = sorted((name for name in run_specific if len(name) >= 6), key=len, reverse=True)
        self._own = re.compile("|".join(map(re.escape, names))) if names else None
        self._texts: dict[str, str] = {}

    def request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A request as it is compared."""
        return {name: self.value(part) for name, part in request.items() if name not in PASSING_FIELDS}

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(part) for part in value]
        if isinstance(value, Mapping):
            return {name: self._field(name, part) for name, part in value.items()}
        if isinstance(value, float | int) and not isinstance(value, bool):
            return "‹time›" if _is_time(value) else value
        return value

    def text(self, text: str) -> str:
        if (known := self._texts.get(text)) is not None:
            return known
        normal = text if self._own is None else self._own.sub("‹run›", text)
        for pattern, replacement in _COMPILED:
            normal = pattern.sub(replacement, normal)
        self._texts[text] = normal
        return normal

    def _field(self, name: str, part: Any) -> Any:
        return "‹id›" if name in ID_FIELDS and isinstance(part, str | int) else self.value(part)


def _is_time(value: float) -> bool:
    return any(1.5e9 * unit <= value < 2e9 * unit for unit in (1, 1e3, 1e6, 1e9))
