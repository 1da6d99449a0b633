"""Runs unittest tests by id inside a sandbox and reports each over a socket: descriptor 3.

Started as a file with `-I -B`, so it must not import anything but the standard library. The tests and the
code they test share this process: what the report rests on is taken hold of before any of that is loaded,
each test module is read from its own file, and a framework that changed under way fails the test.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import traceback
import types
import unittest
import unittest.async_case
import unittest.case
import unittest.suite
from collections.abc import Callable
from typing import Any

CHANNEL = 3
NONCE_BYTES = 32
Send = Callable[[dict[str, Any]], None]
_FRAMEWORK = (
    unittest.case.TestCase,
    getattr(unittest.case, "_Outcome"),  # noqa: B009 (private, so unknown to type checkers)
    unittest.async_case.IsolatedAsyncioTestCase,
    unittest.suite.BaseTestSuite,
    unittest.suite.TestSuite,
    unittest.result.TestResult,
)


class Recorder(unittest.TestResult):
    """Remembers one status per test."""

    def __init__(self) -> None:
        super().__init__()
        self.statuses: dict[int, tuple[str, str]] = {}

    def _note(self, test: Any, status: str, detail: str = "") -> None:
        if self.statuses.get(id(test), ("passed", ""))[0] == "passed":
            self.statuses[id(test)] = (status, detail[-4000:])

    def addSuccess(self, test: Any) -> None:
        self._note(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, "failed", _text(err))

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, "error", _text(err))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, "failed", _text(err))

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skipped", str(reason))

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._note(test, "expected_failure")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "unexpected_success")


def _text(err: Any) -> str:
    text = "".join(traceback.format_exception(*err))
    sys.stderr.write(text)
    return text


def open_channel() -> Send:
    """Frames are marked with a nonce that only this program was told; forked children lose the socket."""
    channel = socket.socket(fileno=CHANNEL)
    channel.set_inheritable(False)
    nonce = channel.recv(NONCE_BYTES, socket.MSG_WAITALL)
    send_all, dumps = channel.sendall, json.dumps
    os.register_at_fork(after_in_child=channel.close)

    def send(frame: dict[str, Any]) -> None:
        send_all(nonce + b" " + dumps(frame).encode() + b"\n")

    return send


def framework_state() -> list[tuple[Any, ...]]:
    """Every function of the framework's classes with its code: what must be the same afterwards."""
    return [
        (name, value, getattr(value, "__code__", None), getattr(value, "__defaults__", None))
        for owner in (*_FRAMEWORK, Recorder)
        for name, value in sorted(vars(owner).items(), key=lambda item: item[0])
        if callable(value) or isinstance(value, classmethod | staticmethod | property)
    ]


def module_of(test_id: str, root: str) -> tuple[str, str]:
    """Name and file of the module in a dotted id: the longest beginning that is a file."""
    parts = test_id.split(".")
    for length in range(len(parts), 0, -1):
        file = os.path.join(root, *parts[:length]) + ".py"
        if os.path.isfile(file):
            return ".".join(parts[:length]), file
    raise LookupError(f"no file below {root} for the test {test_id}")


def load_module(name: str, file: str) -> types.ModuleType:
    """The module from exactly this file, whatever else in the tree goes by its name."""
    parent, _, last = name.rpartition(".")
    package = importlib.import_module(parent) if parent else None
    module = types.ModuleType(name)
    module.__file__, module.__package__ = file, parent
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    sys.modules[name] = module
    exec(code, module.__dict__)
    if package is not None:
        setattr(package, last, module)
    return module


def load_tests(test_ids: list[str], root: str, send: Send) -> dict[str, unittest.TestCase]:
    modules: dict[str, types.ModuleType] = {}
    tests: dict[str, unittest.TestCase] = {}
    for test_id in test_ids:
        try:
            name, file = module_of(test_id, root)
            if name not in modules:
                modules[name] = load_module(name, file)
            owner: Any = modules[name]
            *classes, method = test_id[len(name) + 1 :].split(".")
            for part in classes:
                owner = vars(owner)[part]
            tests[test_id] = owner(method)
        except (Exception, SystemExit):
            send({"test": test_id, "status": "error", "detail": traceback.format_exc()[-4000:]})
            traceback.print_exc()
    return tests


def bodies(tests: dict[str, unittest.TestCase]) -> dict[str, Any]:
    """The code of each test method, to see whether it is still the one from the file."""
    return {
        name: getattr(getattr(type(test), test._testMethodName), "__code__", None)
        for name, test in tests.items()
    }


def main(root: str, test_ids: list[str]) -> None:
    send, leave, state_now, bodies_now = open_channel(), os._exit, framework_state, bodies
    recorder, framework, suite = Recorder(), framework_state(), unittest.TestSuite()
    send({"hello": list(sys.version_info[:3])})
    sys.path.insert(0, root)
    tests = load_tests(test_ids, root, send)
    code = bodies_now(tests)
    suite.addTests(tests.values())
    suite.run(recorder)
    unchanged = state_now() == framework and bodies_now(tests) == code
    for name, test in tests.items():
        status, detail = recorder.statuses.get(id(test), ("error", "a fixture of its class or module failed"))
        if not unchanged:
            status, detail = "tampered", "the test framework or a test was changed while it ran"
        send({"test": name, "status": status, "detail": detail})
    sys.stdout.flush()
    sys.stderr.flush()
    send({"end": len(test_ids)})
    leave(0)


if __name__ == "__main__":
    # The tested code finds no runner under this name.
    sys.modules["__main__"] = types.ModuleType("__main__")
    main(sys.argv[1], sys.argv[2:])
