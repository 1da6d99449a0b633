"""Tests that must fail. Where one of them passes, something has made failing impossible."""

import random
import unittest
from typing import Any


def control_methods() -> Any:
    """Methods for a `unittest.TestCase`, each under a name that nobody can know beforehand."""

    def unequal(self: Any) -> Any:
        self.assertEqual(1, 2)

    def untrue(self: Any) -> Any:
        self.assertTrue(False)

    def unlike(self: Any) -> Any:
        self.assertIn(1, [2])

    def silent(self: Any) -> Any:
        with self.assertRaises(ValueError):
            pass

    def plain(self: Any) -> Any:
        raise AssertionError("control")

    return {secret_name(): body for body in (unequal, untrue, unlike, silent, plain)}


def secret_name() -> Any:
    return "test_%s" % "".join(random.SystemRandom().choice("abcdefghijklmnop") for _ in range(20))


def control_classes(cases: Any, is_test_file: Any) -> Any:
    """A class of controls over each base that test classes take their assertions from.

    The base is the first test class in a class's line that no test file defines: tested code may have a
    hand in it.
    """
    bases: Any = []
    for case in cases:
        for base in type(case).__mro__:
            if issubclass(base, unittest.TestCase) and not is_test_file(base.__module__):
                if base not in bases:
                    bases.append(base)
                break
    return [
        type(base.__name__, (base,), dict(control_methods(), __module__=base.__module__)) for base in bases
    ]
