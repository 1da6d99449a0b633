"""The body of a test tells how it ended, whatever is around it."""

from __future__ import annotations

import asyncio
import functools
import inspect
import unittest
from collections.abc import Callable
from typing import Any

from clawbench.scoring.programs.witness import shadowed, watch


def swallowing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def quiet(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except AssertionError:
            return None

    return quiet


def make_case(captured: int) -> Any:
    class Case(unittest.TestCase):
        def test_good(self, first: int = 1, *, second: int = 2) -> tuple[int, int, int]:
            super().setUp()
            return captured, first, second

        @swallowing
        def test_bad(self) -> None:
            assert captured == 0

        async def test_later(self) -> int:
            return captured

    return Case


def test_bodies_tell_how_they_ended_behind_decorators_and_as_coroutines() -> None:
    owner, told = make_case(7), list[tuple[object, bool]]()
    case = owner("test_good")
    for function in (owner.test_good, owner.test_bad.__wrapped__, owner.test_later):
        watch(function, lambda test, raised: told.append((test, raised)))
    assert case.test_good(3, second=4) == (7, 3, 4)
    assert case.test_good() == (7, 1, 2)
    assert case.test_bad() is None
    assert inspect.iscoroutinefunction(owner.test_later)
    assert asyncio.run(case.test_later()) == 7
    assert told == [(case, False), (case, False), (case, True), (case, False)]
    assert list(inspect.signature(owner.test_good).parameters) == ["self", "first", "second"]


def test_assertions_of_others_are_seen() -> None:
    owner = make_case(1)
    case = owner("test_good")
    assert shadowed(case, lambda _module: False) is None
    case.assertEqual = lambda *_: None
    assert shadowed(case, lambda _module: True) == "assertEqual"
    other = type("Other", (owner,), {"assertIn": lambda *_: None})("test_good")
    assert shadowed(other, lambda _module: False) == "assertIn"
    assert shadowed(other, lambda _module: True) is None
    typed = owner("test_good")
    typed.addTypeEqualityFunc(int, lambda *_, **__: None)
    assert shadowed(typed, lambda _module: True) == "addTypeEqualityFunc"
