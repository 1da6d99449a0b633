"""Several keys of one model: used in turn, rested when told to wait, set aside when refused. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import SecretStr

REFUSED = frozenset((401, 402, 403))


@dataclass
class _Key:
    number: int
    secret: SecretStr
    rests_until: float = 0.0
    refused: int | None = None
    """The status with which the API refused it."""


class KeyRing:
    """Which key a call goes out with."""

    def __init__(self, secrets: list[SecretStr]) -> None:
        self._keys = [_Key(number, secret) for number, secret in enumerate(secrets, 1)]
        self._next = 0

    def __len__(self) -> int:
        return len(self._keys)

    def ready_at(self) -> float:
        """When the first usable key has rested."""
        return min((key.rests_until for key in self._usable()), default=0.0)

    def take(self, now: float) -> tuple[int, SecretStr] | None:
        """Number and secret of the next key in turn that has rested; None for a server without keys."""
        if not self._keys:
            return None
        usable = self._usable()
        order = sorted(usable, key=lambda key: (key.number - 1 - self._next) % len(self._keys))
        rested = [key for key in order if key.rests_until <= now]
        key = rested[0] if rested else min(order, key=lambda key: key.rests_until)
        self._next = key.number % len(self._keys)
        return key.number, key.secret

    def rest(self, number: int, until: float) -> None:
        """The API asked this key to wait."""
        key = self._keys[number - 1]
        key.rests_until = max(key.rests_until, until)

    def refuse(self, number: int, status: int) -> bool:
        """Set a bad key aside; the last one stays in use, so that the harness hears what is wrong."""
        if len(self._usable()) == 1 or self._keys[number - 1].refused is not None:
            return False
        self._keys[number - 1].refused = status
        return True

    def set_aside(self) -> dict[int, int]:
        """Number and status of each key that was refused."""
        return {key.number: key.refused for key in self._keys if key.refused is not None}

    def _usable(self) -> list[_Key]:
        return [key for key in self._keys if key.refused is None]
