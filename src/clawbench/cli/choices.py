"""Turning what a user names on the command line into a model."""

from __future__ import annotations

import os
from pathlib import Path

from clawbench.errors import InputError
from clawbench.gateway import load_policy
from clawbench.harnesses import Harness, asks_model
from clawbench.harnesses.human import HUMAN
from clawbench.models import SCRIPTED, Model, absent_model, load_model, scripted_model
from clawbench.tasks import Task

MODELS_HELP = "The models file (default: ./models.yaml, else ~/.config/clawbench/models.yaml)."


def models_file(file: Path | None) -> Path:
    """The given file, or the first default one that exists."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    candidates = [file] if file else [Path("models.yaml"), config / "clawbench" / "models.yaml"]
    for candidate in candidates:
        if file is not None or candidate.exists():
            return candidate
    raise InputError(
        "no models file found",
        field="--models",
        remedy="Write models.yaml (docs/models.md shows one) or give --models FILE",
    )


def choose_model(name: str | None, file: Path | None, task: Task, harness: Harness) -> Model:
    """The model a user names: an entry of the models file, or `scripted:POLICY`."""
    if name is None and not asks_model(harness):
        return absent_model(HUMAN if harness.name == HUMAN else "none")
    if name is None:
        raise InputError(
            "is missing",
            field="--model",
            remedy="Name a model, or give --human to drive the browser yourself",
        )
    return named_model(name, file, task)


def named_model(name: str, file: Path | None, task: Task | None = None) -> Model:
    """An entry of the models file, or a scripted model; both can be used as they are."""
    if name.startswith(SCRIPTED):
        return scripted_choice(name.removeprefix(SCRIPTED), task)
    model = load_model(models_file(file), name)
    if model.scripted:
        load_policy(model.policy)
    return model


def scripted_choice(policy: str, task: Task | None = None) -> Model:
    """A scripted model: the policy file of that name in the task's directory, or a path."""
    own = None if task is None else task.directory / "policies" / f"{policy}.yaml"
    path = own if own is not None and "/" not in policy and own.is_file() else Path(policy).absolute()
    return scripted_model(f"scripted-{path.stem}", path, load_policy(path).price)
