"""Runs Django's own test-suite by labels and reports every test over the channel.

`django_program.py ROOT SETTINGS LABEL…`. Runs on Python 3.6 and later. Django's runner and test classes are
themselves tested code here, so a success counts only when it comes from unittest's own `TestCase.run`, after
the body that the test's file defines came to its end, in a process where controls still fail.
"""

import ast
import importlib
import os
import runpy
import sys
import traceback
import types
import unittest
import unittest.case
import unittest.result
import unittest.runner
import unittest.suite
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
controls: Any = importlib.import_module("controls")
reporting: Any = importlib.import_module("reporting")
witness: Any = importlib.import_module("witness")

sys.path.pop(0)
for _name in ("reporting", "controls", "witness"):
    del sys.modules[_name]

FRAMEWORK = [unittest.case, unittest.suite, unittest.result, unittest.runner]
RUN = unittest.case.TestCase.run.__code__
ENDED = "ended"
DEPTH = 100
frame_of = sys._getframe


class Entry:
    """A test, and what is known of it."""

    def __init__(self, test: Any) -> None:
        self.test = test
        self.function = getattr(type(test), test._testMethodName, None)
        self.status, self.detail = "missing", "it was not run"
        description = test.shortDescription()
        self.names = [str(test), *([description] if description else [])]
        self.control = self.glued = self.subtests_only = False
        self.body: Any = None
        self.ends: Any = []

    def note(self, status: Any, detail: Any = "") -> Any:
        if self.status in ("missing", "passed"):
            self.status, self.detail = status, detail[-reporting.DETAIL :]


class Book:
    """All tests that were about to run; kept where the tested code has no name for it."""

    def __init__(self, root: Any, send: Any) -> None:
        self.entries: Any = {}
        self.send, self.sent = send, 0
        self.root = os.path.join(root, "tests")
        self.bodies: Any = {}
        self.watched: Any = {}
        self.watch_body, self.shadowed = witness.watch, witness.shadowed
        self.open_line = self.controlled = False

    def is_test_file(self, name: Any) -> Any:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        return os.path.realpath(file).startswith(self.root + os.sep)

    def enter(self, tests: Any, control: Any = False) -> Any:
        for test in tests:
            if id(test) not in self.entries:
                entry = self.entries[id(test)] = Entry(test)
                entry.control = control
                if not control:
                    self.watch(entry)

    def watch(self, entry: Any) -> Any:
        """Have the body of the test tell when it ends; decorators and base classes cannot speak for it."""
        body, wrapped = entry.function, False
        for _ in range(DEPTH):
            inner = getattr(body, "__wrapped__", None) or getattr(body, "awaitable", None)
            if inner is None:
                break
            body, wrapped = inner, True
        entry.body = number = id(body)
        if number in self.watched:
            return
        if not self.is_from_file(body, wrapped):
            entry.ends.append("is not the one that the test's file defines")
            return
        self.watched[number] = body
        self.watch_body(body, lambda test, raised: self.end_body(number, test, raised))

    def end_body(self, number: Any, test: Any, raised: Any) -> Any:
        """A test may call others, or what it inherits from: only its own body counts, each time it runs."""
        entry = self.entries.get(id(test))
        if entry is not None and entry.body == number:
            name = self.shadowed(test, self.is_test_file)
            entry.ends.append("ran with another %s" % name if name else "raised" if raised else ENDED)

    def note(self, test: Any, status: Any, detail: Any = "") -> Any:
        entry = self.entries.get(id(test))
        if entry is not None:
            entry.subtests_only = False
            entry.note(status, detail)

    def note_subtest(self, test: Any, detail: Any) -> Any:
        entry = self.entries.get(id(test))
        if entry is not None:
            entry.subtests_only = entry.subtests_only or entry.status == "missing"
            entry.note("failed", detail)

    def begin(self, test: Any) -> Any:
        """Before Python 3.11 a test that fails in subtests only leaves its line in the log open."""
        entry = self.entries.get(id(test))
        if entry is not None:
            entry.glued = self.open_line and len(entry.names) == 1

    def finish(self, test: Any) -> Any:
        """A test is told of at once: what changes afterwards does not count."""
        entry = self.entries.get(id(test))
        if entry is None:
            return
        self.open_line = entry.subtests_only and sys.version_info < (3, 11)
        if not entry.control:
            status = "hidden" if entry.glued and entry.status == "passed" else entry.status
            self.send({"names": entry.names, "status": status, "detail": entry.detail})
            self.sent += 1

    def succeed(self, test: Any, frame: Any) -> Any:
        entry = self.entries.get(id(test))
        if entry is None:
            return
        if frame.f_code is not RUN:
            entry.note("tampered", "a success that unittest did not report")
        elif not entry.control and set(entry.ends) != {ENDED}:
            entry.note("tampered", "the test's body " + (" and ".join(entry.ends[:5]) or "did not run"))
        else:
            entry.note("passed")

    def is_from_file(self, function: Any, wrapped: Any) -> Any:
        """Whether the method, below its decorators, is the code of a file below `tests`.

        Where the file has no decorator on it or on its class, nothing may be around it.
        """
        code: Any = getattr(function, "__code__", None)
        file = os.path.realpath(code.co_filename) if code is not None else ""
        if not file.startswith(self.root + os.sep):
            return False
        if file not in self.bodies:
            with open(file, "rb") as opened:
                source = opened.read()
            compiled = compile(source, code.co_filename, "exec", dont_inherit=True)
            self.bodies[file] = (_codes(compiled), _undecorated(ast.parse(source)))
        codes, plain = self.bodies[file]
        return code in codes.get(code.co_name, ()) and not (
            wrapped and (code.co_name, code.co_firstlineno) in plain
        )


def _undecorated(tree: Any) -> Any:
    """Name and line of each method that has no decorator, in a class that has none."""
    return {
        (node.name, node.lineno)
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef) and not owner.decorator_list
        for node in owner.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }


def _codes(code: Any) -> Any:
    found: Any = {}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.setdefault(constant.co_name, []).append(constant)
            for name, inner in _codes(constant).items():
                found.setdefault(name, []).extend(inner)
    return found


def result_class(book: Any) -> Any:
    """A result that writes into the book and prints as usual."""

    def text(err: Any) -> Any:
        return "".join(traceback.format_exception(*err))

    class Result(unittest.runner.TextTestResult):
        def startTest(self, test: Any) -> Any:
            book.begin(test)
            super().startTest(test)

        def stopTest(self, test: Any) -> Any:
            book.finish(test)
            super().stopTest(test)

        def addSuccess(self, test: Any) -> Any:
            book.succeed(test, frame_of(1))
            super().addSuccess(test)

        def addFailure(self, test: Any, err: Any) -> Any:
            book.note(test, "failed", text(err))
            super().addFailure(test, err)

        def addError(self, test: Any, err: Any) -> Any:
            book.note(test, "error", text(err))
            super().addError(test, err)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> Any:
            if err is not None:
                book.note_subtest(test, text(err))
            super().addSubTest(test, subtest, err)

        def addSkip(self, test: Any, reason: Any) -> Any:
            book.note(test, "skipped", str(reason))
            super().addSkip(test, reason)

        def addExpectedFailure(self, test: Any, err: Any) -> Any:
            book.note(test, "expected_failure")
            super().addExpectedFailure(test, err)

        def addUnexpectedSuccess(self, test: Any) -> Any:
            book.note(test, "unexpected_success")
            super().addUnexpectedSuccess(test)

    return Result


def runner_class(book: Any) -> Any:
    """What Django's runner finds as unittest's: it adds the controls, and has our result."""
    result, make_controls = result_class(book), controls.control_classes
    text_runner: Any = unittest.TextTestRunner

    def flat(suite: Any) -> Any:
        for test in suite:
            if isinstance(test, unittest.suite.BaseTestSuite):
                yield from flat(test)
            else:
                yield test

    class Runner(text_runner):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            if not book.controlled:
                kwargs["resultclass"] = result
            super().__init__(*args, **kwargs)

        def run(self, test: Any) -> Any:
            if book.controlled:  # a test that runs others, which do not count
                return super().run(test)
            cases = [case for case in flat(test) if isinstance(case, unittest.TestCase)]
            book.enter(cases)
            for owner in make_controls(cases, book.is_test_file):
                book.controlled = True
                added = [owner(name) for name in vars(owner) if name.startswith("test_")]
                book.enter(added, control=True)
                test.addTests(added)
            try:
                return super().run(test)
            finally:
                book.controlled = False

    return Runner


def main(own: Any, root: Any, settings: Any, labels: Any) -> Any:
    send, leave, changed = reporting.open_channel(), os._exit, reporting.changed
    book, owners = Book(root, send), reporting.with_classes([*FRAMEWORK, own, witness])
    state_of = reporting.functions_of
    setattr(unittest, "TextTestRunner", runner_class(book))  # noqa: B010
    before = state_of(owners)
    send({"hello": list(sys.version_info[:3])})
    sys.path[:0] = [os.path.join(root, "tests")]
    sys.path.append(root)
    script = os.path.join(root, "tests", "runtests.py")
    sys.argv = [script, "--verbosity", "1", "--settings=" + settings, "--parallel", "1", *labels]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    tampered = changed(before, state_of(owners))
    entries = list(book.entries.values())
    passing = [entry.names[0] for entry in entries if entry.control and entry.status == "passed"]
    trouble = ["%s was changed" % name for name in tampered] + ["%s passed" % name for name in passing]
    sys.stdout.flush()
    sys.stderr.flush()
    send({"end": book.sent, "tampered": trouble[:20]})
    leave(0)


if __name__ == "__main__":
    # The tested code finds no runner under this name.
    _own = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    main(_own, sys.argv[1], sys.argv[2], sys.argv[3:])
