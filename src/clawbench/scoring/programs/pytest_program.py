"""Runs pytest in this process and reports every test over the channel as it ends.

`pytest_program.py ROOT ARGUMENT…`. Runs on Python 3.6 and later, with whatever pytest the environment has.
pytest is loaded, and its functions noted, before any tested code; a pass counts when pytest's own call
of the very function in the test's file raised nothing, in a process where controls still fail.
"""

import ast
import importlib
import os
import sys
import traceback
import types
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
controls: Any = importlib.import_module("controls")
reporting: Any = importlib.import_module("reporting")
sys.path.pop(0)
for _name in ("reporting", "controls"):
    del sys.modules[_name]

DECISIVE = (
    "pytest_runtest_protocol",
    "pytest_runtestloop",
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_logreport",
    "pytest_pyfunc_call",
    "pytest_collection_modifyitems",
    "pytest_itemcollected",
    "pytest_pycollect_makeitem",
    "pytest_pycollect_makemodule",
    "pytest_make_collect_report",
    "pytest_collect_file",
    "pytest_fixture_setup",
    "pytest_assertrepr_compare",
    "pytest_configure",
    "pytest_load_initial_conftests",
)
"""Hooks through which a plugin can decide what becomes of a test."""
unwrap_limit = 50


class Entry:
    """One test, and what is known of it."""

    def __init__(self, item: Any, control: bool) -> None:
        self.control = control
        self.names = [item.nodeid]
        self.item = item
        self.function = below(getattr(item, "obj", None))
        self.code = getattr(self.function, "__code__", None)
        self.status, self.detail, self.called = "missing", "it was not run", False
        self.sent = False

    def note(self, status: Any, detail: Any = "") -> Any:
        if self.status in ("missing", "passed"):
            self.status, self.detail = status, detail[-reporting.DETAIL :]


def below(function: Any) -> Any:
    """The function below its decorators."""
    for _ in range(unwrap_limit):
        function = getattr(function, "__func__", function)
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    return function


class Sources:
    """Which functions a test file defines, read from the file itself."""

    def __init__(self) -> None:
        self._known: Any = {}

    def defines(self, code: Any) -> Any:
        file = code.co_filename
        if file not in self._known:
            try:
                with open(file, "rb") as source:
                    tree = ast.parse(source.read())
            except (OSError, SyntaxError, ValueError):
                self._known[file] = None
            else:
                self._known[file] = spans(tree)
        known, line = self._known[file], code.co_firstlineno
        return known is None or any(first <= line <= last for first, last in known.get(code.co_name, ()))


def spans(tree: Any) -> Any:
    """Name of each function and the lines from its first decorator to its first statement."""
    found: Any = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            found.setdefault(node.name, []).append((first, node.body[0].lineno))
    return found


def plugin_for(entries: Any, pytest: Any, report_trouble: Any, send: Any) -> Any:
    """Our plugin, as an object whose parts the tested code has no name for."""
    secret, sources, add_controls = controls.secret_name, Sources(), control_items

    class Plugin:
        @pytest.hookimpl(trylast=True)  # type: ignore[untyped-decorator]
        def pytest_collection_modifyitems(self, session: Any, config: Any, items: Any) -> Any:
            added = add_controls(items, pytest, secret)
            entries.update({id(item): Entry(item, False) for item in items})
            entries.update({id(item): Entry(item, True) for item in added})
            items.extend(added)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[untyped-decorator]
        def pytest_pyfunc_call(self, pyfuncitem: Any) -> Any:
            entry = entries.get(id(pyfuncitem))
            if entry is not None:
                entry.called = True
            yield

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[untyped-decorator]
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
            excinfo = call.excinfo
            outcome = yield
            report = outcome.get_result()
            entry = entries.get(id(item))
            if entry is None:
                report_trouble("a test ran that was not collected: %s" % item.nodeid)
                return
            found = verdict(entry, report, excinfo, sources)
            if found is not None:
                entry.note(*found)
            if call.when == "teardown" and not entry.control and not entry.sent:
                entry.sent = True
                send({"names": entry.names, "status": entry.status, "detail": entry.detail})

    return Plugin()


def verdict(entry: Any, report: Any, excinfo: Any, sources: Any) -> Any:
    """Status and detail after one phase of a test; None where the phase says nothing."""
    expected = hasattr(report, "wasxfail")
    if report.when != "call":
        if excinfo is None:
            return None
        status = "expected_failure" if expected else "skipped" if report.outcome == "skipped" else "error"
        return (status, str(report.longrepr))
    if expected:
        status = "expected_failure" if report.outcome == "skipped" else "unexpected_success"
        return (status, str(report.wasxfail))
    if report.outcome == "skipped":
        return ("skipped", str(report.longrepr))
    if excinfo is not None or report.outcome != "passed":
        return ("failed", str(report.longrepr))
    return genuine(entry, sources)


def genuine(entry: Any, sources: Any) -> Any:
    if entry.control or entry.code is None:
        return ("passed",)
    now = below(getattr(entry.item, "obj", None))
    if now is not None and getattr(now, "__code__", None) is not entry.code:
        return ("tampered", "another function ran in the test's place")
    if not sources.defines(entry.code):
        return ("tampered", "the function is not one that the test's file defines")
    if not entry.called and type(entry.item).__name__ == "Function":
        return ("tampered", "pytest did not call the test")
    return ("passed",)


def control_items(items: Any, pytest: Any, secret: Any) -> Any:
    """For each module with tests, functions that must fail."""

    def unequal() -> Any:
        assert str(2) == "one"

    def plain() -> Any:
        raise AssertionError("control")

    def told() -> Any:
        pytest.fail("control")

    def silent() -> Any:
        with pytest.raises(ValueError):
            pass

    added = []
    modules = {id(module): module for module in (item.getparent(pytest.Module) for item in items) if module}
    for module in modules.values():
        for body in (unequal, plain, told, silent):
            name = secret()
            if hasattr(pytest.Function, "from_parent"):
                added.append(pytest.Function.from_parent(module, name=name, callobj=body))
            else:
                added.append(pytest.Function(name, parent=module, callobj=body))
    return added


def traits_of(config: Any, root: Any) -> Any:
    """Decisive hooks that files of the work tree implement, and where: a patch may not add to them."""
    found = set()
    for name in DECISIVE:
        caller = getattr(config.pluginmanager.hook, name, None)
        for implementation in caller.get_hookimpls() if caller is not None else ():
            code = getattr(below(implementation.function), "__code__", None)
            file = os.path.realpath(code.co_filename) if code else "?"
            if file.startswith(root + os.sep):
                found.add("%s in %s" % (name, os.path.relpath(file, root)))
    return sorted(found)


def watched(modules: Any) -> Any:
    """pytest's and its foundations' modules, as loaded now."""
    names = ("_pytest", "pluggy", "unittest")
    chosen = [module for name, module in sorted(modules.items()) if name.split(".")[0] in names]
    return reporting.with_classes([module for module in chosen if isinstance(module, types.ModuleType)])


class Watch:
    """What pytest's own functions are at the session's beginning and end, and whose hooks took part."""

    def __init__(self, root: Any, own: Any) -> None:
        self.root, self.own = os.path.realpath(root), own
        self.owners: Any = None
        self.before: Any = None
        self.after: Any = None
        self.traits: Any = []
        self.state_of, self.hooks_of, self.changed = reporting.functions_of, traits_of, reporting.changed

    def begin(self) -> Any:
        self.owners = watched(sys.modules) + reporting.with_classes([self.own])
        self.before = self.state_of(self.owners)

    def end(self, config: Any) -> Any:
        self.after = self.state_of(self.owners)
        self.traits = self.hooks_of(config, self.root)

    def trouble(self) -> Any:
        if self.after is None:
            return ["the session did not come to its end"]
        return ["%s was changed" % name for name in self.changed(self.before, self.after)]


def perform(own: Any, send: Any, pytest: Any, root: Any, arguments: Any) -> Any:
    """Run pytest; each test is told of at once, what is wrong and the traits at the end."""
    entries: Any = {}
    trouble: Any = []
    watch = Watch(root, own)

    class Session:
        @pytest.hookimpl(trylast=True)  # type: ignore[untyped-decorator]
        def pytest_sessionstart(self) -> Any:
            watch.begin()

        @pytest.hookimpl(trylast=True)  # type: ignore[untyped-decorator]
        def pytest_sessionfinish(self, session: Any) -> Any:
            watch.end(session.config)

    plugins = [plugin_for(entries, pytest, trouble.append, send), Session()]
    print_trouble = traceback.print_exc
    try:
        pytest.main([*arguments, "--rootdir", root, "-p", "no:cacheprovider"], plugins=plugins)
    except BaseException:
        print_trouble()
    found = list(entries.values())
    made = [entry for entry in found if entry.control]
    trouble += watch.trouble() + ["a control passed" for entry in made if entry.status == "passed"]
    trouble += ["there were no controls"] if found and not made else []
    sent = len([entry for entry in found if entry.sent])
    return {"end": sent, "tampered": trouble[:20], "traits": watch.traits}


def main(own: Any, root: Any, arguments: Any) -> None:
    send, leave, act = reporting.open_channel(), os._exit, perform
    import pytest

    send({"hello": list(sys.version_info[:3])})
    sys.path.append(root)
    end = act(own, send, pytest, root, arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    send(end)
    leave(0)


if __name__ == "__main__":
    # The tested code finds no runner under this name.
    _own = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    main(_own, sys.argv[1], sys.argv[2:])
