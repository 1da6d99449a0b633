"""Reading models.yaml: name -> base_url, api_type, api_key or api_keys, settings, price."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from clawbench.errors import InputError
from clawbench.given import read_yaml, usable_path
from clawbench.models.model import SCRIPTED, ApiType, Model
from clawbench.results import Price

NO_KEY = "none"
"""What to write as `api_key` for a server that wants none."""

_VARIABLE = re.compile(r"^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$")


def load_models(file: Path, *, with_keys: bool = True) -> dict[str, Model]:
    """Every model of the file; the first problem is an error. Keys are resolved from the environment, or
    left as they are written."""
    return {name: _model(file, name, entry, with_keys) for name, entry in _entries(file).items()}


def load_model(file: Path, name: str) -> Model:
    """One model of the file: what others lack, such as a key in this environment, does not matter."""
    entries = _entries(file)
    if name not in entries:
        known = ", ".join(sorted(entries))
        raise InputError(f"no model called {name!r}", field="--model", remedy=f"Known: {known}")
    return _model(file, name, entries[name])


def _entries(file: Path) -> dict[str, Any]:
    entries = read_yaml(file, "Give a models file with --models")
    if not isinstance(entries, dict) or not entries:
        raise InputError("names no model", file=file, remedy="Write `name: {base_url: …, api_type: …}`")
    named = [str(name) for name in entries]
    if twice := [name for name in named if named.count(name) > 1]:
        raise InputError("is there twice", file=file, field=twice[0], remedy="Give each model its own name")
    return dict(zip(named, entries.values(), strict=True))


def scripted_model(name: str, policy: Path, price: Price | None = None) -> Model:
    """A model whose answers come from a policy file."""
    url = f"{SCRIPTED}{policy}"
    try:
        return Model(name=name, base_url=url, api_type=ApiType.OPENAI_COMPLETIONS, price=price)
    except ValidationError:
        remedy = "Give it a name in Unicode"
        raise InputError("has a name that no record can hold", file=policy, remedy=remedy) from None


def absent_model(name: str) -> Model:
    """Stands where a run names its model though none is asked; it has no price."""
    return Model(name=name, base_url=f"http://{name}.invalid/", api_type=ApiType.OPENAI_COMPLETIONS)


def _model(file: Path, name: str, entry: Any, with_keys: bool = True) -> Model:
    if not isinstance(entry, dict):
        raise InputError(
            "is not a mapping", file=file, field=name, remedy="Write base_url, api_type and api_key below it"
        )
    fields = dict(entry)
    if "name" in fields:
        raise InputError("is not a known field", file=file, field=f"{name}.name", remedy=_NAMED)
    url = str(fields.get("base_url", ""))
    if url.startswith(SCRIPTED):
        with usable_path(file, "Write `scripted:` and the path of a policy file", f"{name}.base_url"):
            fields["base_url"] = SCRIPTED + str((file.parent / url.removeprefix(SCRIPTED)).resolve())
    keys = _keys(file, name, fields, needed=not url.startswith(SCRIPTED))
    if with_keys:
        keys = tuple(_resolve(file, f"{name}.api_key", key) for key in keys)
    try:
        return Model.model_validate({**fields, "name": name, "api_keys": keys})
    except ValidationError as error:
        raise _problem(error, file, name) from None


_NAMED = "The name stands before the entry; the provider's own, where it differs, is `model`"


def _keys(file: Path, name: str, fields: dict[str, Any], *, needed: bool) -> tuple[str, ...]:
    given = fields.pop("api_keys", None)
    single = fields.pop("api_key", None)
    if given is not None and single is not None:
        remedy = "Write one of them: `api_keys` is the list"
        raise InputError("is given beside api_keys", file=file, field=f"{name}.api_key", remedy=remedy)
    if given is None:
        given = [] if single is None else [single]
    field = f"{name}.api_key"
    if not isinstance(given, list) or not all(isinstance(key, str) and key for key in given):
        raise InputError("is not a string", file=file, field=field, remedy="Write a key or `${VARIABLE}`")
    if needed and not given:
        raise InputError(
            "is missing",
            file=file,
            field=field,
            remedy=f"Write `api_key: ${{VARIABLE}}` and export it, or `api_key: {NO_KEY}` if it needs none",
        )
    return tuple(key for key in given if key != NO_KEY)


def _resolve(file: Path, field: str, key: str) -> str:
    variable = _VARIABLE.match(key)
    if variable is None:
        return key
    value = os.environ.get(variable[1], "")
    if not value:
        raise InputError(
            f"environment variable {variable[1]} is not set",
            file=file,
            field=field,
            remedy=f"export {variable[1]}=…",
        )
    return value


def _problem(error: ValidationError, file: Path, name: str) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join([name, *(str(part) for part in first["loc"])])
    message = {"missing": "is missing", "extra_forbidden": "is not a known field"}.get(
        first["type"], first["msg"].removeprefix("Value error, ")
    )
    return InputError(
        message, file=file, field=field, remedy="Correct the field; docs/models.md lists what each may hold"
    )
