"""The execution contexts of documents: which are anybody's, and which are the recorder's own world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NONE: Mapping[int, str] = MappingProxyType({})


@dataclass
class _Document:
    """What a target shows until it shows something else."""

    names: dict[int, str] = field(default_factory=dict)
    recorders: dict[int, str] = field(default_factory=dict)
    awaited: dict[int, list[Callable[[], None]]] = field(default_factory=dict)


class Contexts:
    """Told of them by the browser, whoever follows them."""

    def __init__(self) -> None:
        self._documents: dict[str, _Document] = {}

    def of(self, target: str | None) -> Mapping[int, str]:
        """Number -> unique name of all but the recorder's. Another object for another document."""
        document = self._documents.get(target or "")
        return document.names if document else NONE

    def is_recorders(self, target: str | None, number: int) -> bool:
        document = self._documents.get(target or "")
        return document is not None and number in document.recorders

    def recorders(self, target: str | None) -> Mapping[int, str]:
        """Number -> unique name of the recorder's own."""
        document = self._documents.get(target or "")
        return document.recorders if document else NONE

    def when_known(self, target: str, number: int, then: Callable[[], None]) -> None:
        """Call back once the context is known, or its document gone."""
        document = self._documents.setdefault(target, _Document())
        if number in document.names:
            then()
        else:
            document.awaited.setdefault(number, []).append(then)

    def created(self, target: str, number: int, name: str) -> None:
        document = self._documents.setdefault(target, _Document())
        if number not in document.recorders:  # else somebody else is late to tell of the last document
            document.names[number] = name
        for then in document.awaited.pop(number, ()):
            then()

    def created_for_recorder(self, target: str, number: int, name: str) -> None:
        document = self._documents.setdefault(target, _Document())
        document.recorders[number] = name
        document.names.pop(number, None)

    def destroyed(self, target: str, number: int) -> None:
        if document := self._documents.get(target):
            document.names.pop(number, None)
            document.recorders.pop(number, None)

    def cleared(self, target: str) -> None:
        """The target shows another document, or none any more."""
        if document := self._documents.pop(target, None):
            for waiting in document.awaited.values():
                for then in waiting:
                    then()
