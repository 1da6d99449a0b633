"""Content-Type as pages write it, which can be anything. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"?|([^;]*))', re.DOTALL)
NO_TYPE = "text/plain"
"""What a type that is none is taken for, as in mail."""
NO_CHARSETS = frozenset(("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"))
"""Codecs that Python knows and no page is written in; some take quadratic time."""


@dataclass(frozen=True)
class MediaType:
    """What is said about a body; nothing in it makes reading it fail."""

    header: str = ""

    @property
    def kind(self) -> str:
        """Without parameters and in small letters; empty where nothing is said."""
        kind = self.header.partition(";")[0].strip().lower()
        return kind if kind.count("/") == 1 or not self.header else NO_TYPE

    @property
    def is_json(self) -> bool:
        return self.kind.endswith("json")

    @property
    def charset(self) -> str:
        """The first that is named, as Python calls it; empty where it is none that we know."""
        try:
            name = codecs.lookup(next(self._all("charset"), "")).name
        except (LookupError, ValueError):
            return ""
        return "" if name in NO_CHARSETS else name

    @property
    def boundaries(self) -> list[bytes]:
        """Of parts: which of several counts is for the server to say."""
        return [value.encode("utf-8", "surrogatepass") for value in self._all("boundary") if value]

    def _all(self, wanted: str) -> Iterator[str]:
        for name, quoted, bare in PARAMETER.findall(self.header):
            if name.lower() == wanted:
                yield re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) or bare.strip()
