"""Sees from inside whether a test's own body came to its end, whatever is wrapped around it.

Runs on Python 3.6 and later. Decorators hold on to a function: it stays, and gets other code, which
calls the body and tells how it ended.
"""

import inspect
import types
import unittest.case
from typing import Any

CHECKING = {
    name: value
    for name, value in vars(unittest.case.TestCase).items()
    if name.startswith(("assert", "fail", "_base", "_get", "_deprecate", "subTest", "_formatMessage"))
}


def watch(function: Any, told: Any) -> Any:
    """From now on `told(first argument, whether it raised)` is called when the function's body ends."""
    body = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    body.__kwdefaults__ = function.__kwdefaults__
    # Some decorators look at what a test takes.
    function.__signature__ = inspect.signature(function)
    is_async = inspect.iscoroutinefunction(function)
    function.__code__ = _code(function.__code__, (_awaiting if is_async else _calling)(body, told), is_async)


def _calling(body: Any, told: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = body(*args, **kwargs)
        except BaseException:
            told(args[0], True)
            raise
        told(args[0], False)
        return result

    return call


def _awaiting(body: Any, told: Any) -> Any:
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await body(*args, **kwargs)
        except BaseException:
            told(args[0], True)
            raise
        told(args[0], False)
        return result

    return call


def _code(like: Any, call: Any, is_async: Any) -> Any:
    """Code that does `call`, with as many free variables as `like`: a function takes no other."""
    names = ", ".join(like.co_freevars)
    lines = [
        "def make(%s):" % names,
        "    %sdef test(*args, **kwargs):" % ("async " if is_async else ""),
        "        %s" % (names or "pass"),
        "        call = 'the call'",
        "        return %scall(*args, **kwargs)" % ("await " if is_async else ""),
    ]
    made: Any = compile("\n".join(lines), like.co_filename, "exec", dont_inherit=True).co_consts[0]
    code = next(value for value in made.co_consts if isinstance(value, types.CodeType))
    return _with_constants(code, tuple(call if value == "the call" else value for value in code.co_consts))


def _with_constants(code: Any, constants: Any) -> Any:
    if hasattr(code, "replace"):
        return code.replace(co_consts=constants)
    names = (
        "argcount kwonlyargcount nlocals stacksize flags code consts names varnames filename name firstlineno"
    )
    fields = [getattr(code, "co_" + name) for name in (names + " lnotab freevars cellvars").split()]
    fields[6] = constants
    return types.CodeType(*fields)


def shadowed(test: Any, is_test_file: Any) -> Any:
    """The name of a check of unittest's that neither unittest nor a test file answers for, or None."""
    own, mro = vars(test), type(test).__mro__
    for name, genuine in CHECKING.items():
        owner = next(base for base in mro if name in vars(base))
        if name in own or (vars(owner)[name] is not genuine and not is_test_file(owner.__module__)):
            return name
    # Those of unittest are names of its methods.
    foreign = [value for value in own["_type_equality_funcs"].values() if not isinstance(value, str)]
    return "addTypeEqualityFunc" if foreign else None
