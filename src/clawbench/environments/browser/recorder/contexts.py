"""The execution contexts of documents. The recorder hears of them before any other client does."""

from __future__ import annotations

from collections.abc import Mapping


class Contexts:
    """All of them but the recorder's own world."""

    def __init__(self) -> None:
        self._names: dict[str, dict[int, str]] = {}

    def of(self, target: str | None) -> Mapping[int, str]:
        """Number -> unique name. The same object as long as the target shows the same document."""
        return self._names.setdefault(target or "", {})

    def created(self, target: str, number: int, name: str) -> None:
        self._names.setdefault(target, {})[number] = name

    def destroyed(self, target: str, number: int) -> None:
        self._names.get(target, {}).pop(number, None)

    def cleared(self, target: str) -> None:
        """The target shows another document."""
        self._names.pop(target, None)
