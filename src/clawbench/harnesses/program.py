"""The adapter of a program that somebody else wrote: what all of them share. A subclass says what differs."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path

import anyio

from clawbench.errors import InputError
from clawbench.harnesses.evidence import Evidence, finish_of
from clawbench.harnesses.leftovers import LARGEST, Leftovers, read_regular
from clawbench.harnesses.protocol import CDP, GATEWAY, AgentResult, RunContext
from clawbench.harnesses.rehearsal import Rehearsed
from clawbench.harnesses.runtimes import Part, Runtime, find_runtime
from clawbench.harnesses.tool_policy import SHELL_TIMEOUT_S
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.places import cache_directory
from clawbench.results import Claim
from clawbench.sandbox import Command, Ended, Sandbox

LONGEST_ARGUMENT = 120_000
"""The kernel takes no single argument of more than 128 KiB."""

MOST_TRANSCRIPTS = 100
LONGEST_NAME = 200
"""Of a saved transcript, whose name has all the directories in it."""


class Setting(StrEnum):
    """What a run may ask of a harness; one that it has no word for is named in the run's notices."""

    THINKING = "thinking level"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max tokens"
    TURNS = "turn limit"
    COMMAND_TIME = "time limit of a command"


@dataclass(frozen=True)
class Launch:
    """How to start the program, all paths as the sandbox has them."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    """The workspace where None."""


@dataclass
class ProgramAgent:
    context: RunContext
    notices: list[str]
    leftovers: Leftovers


class ProgramHarness(Rehearsed, ABC):
    """Starts a program from the runtime cache, configured in HOME, and reads what it left."""

    name: str
    summary: str
    kinds: frozenset[str]
    tried: Sequence[str]
    """Versions that the adapter was tried with; the first is the one that is installed by default."""
    apis: Sequence[ApiType]
    """What it can speak to the model, best first."""
    settings: frozenset[Setting] = frozenset()
    """What it can be told."""
    transcripts: Sequence[str] = ()
    """Patterns of files in HOME that are its own record, kept in the run's `harness/`."""

    def __init__(self, version: str | None = None) -> None:
        self.version: str | None = version or self.tried[0]

    # What differs

    @abstractmethod
    def parts(self, kind: str | None = None) -> Sequence[Part]:
        """Its runtime, the part that gives it its name first; for one kind of task, or for all."""

    @abstractmethod
    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        """Write its configuration into HOME (`context.sandbox.home`) and say how to start it."""

    @abstractmethod
    def examine(self, leftovers: Leftovers) -> Evidence:
        """What can be told of its end and its usage."""

    # The five methods

    async def provision(self, sandbox: Sandbox) -> None:
        for mount in self.runtime.mounts:
            sandbox.mount(mount)

    async def open(self, context: RunContext) -> ProgramAgent:
        check_api(self, context.model)
        stdout, stderr = context.harness_dir / "stdout.txt", context.harness_dir / "stderr.txt"
        return ProgramAgent(
            context, self._notices(context), Leftovers(context.sandbox.home, stdout, stderr, None)
        )

    async def perform(self, agent: ProgramAgent, prompt: str) -> AgentResult:
        context, left = agent.context, agent.leftovers
        launch = self.configure(context, self.runtime, prompt)
        _check_arguments(launch, self.name)
        process = await context.sandbox.start(_command(context, launch, left))
        try:
            context.services.serve(process)
            ended = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
        agent.leftovers = Leftovers(left.home, left.stdout, left.stderr, ended)
        return self._finish(agent.leftovers, ended)

    def _finish(self, leftovers: Leftovers, ended: Ended) -> AgentResult:
        return finish_of(self.examine(leftovers), ended)

    async def collect(self, agent: ProgramAgent, harness_dir: Path) -> Claim | None:
        self.save_transcripts(agent, harness_dir)
        return self.examine(agent.leftovers).claim()

    async def close(self, agent: ProgramAgent) -> None:
        """HOME is removed with the sandbox; nothing else is held."""

    # Shared

    def save_transcripts(self, agent: ProgramAgent, harness_dir: Path) -> None:
        """Copy the program's own record but for the token; no links are followed, names are kept flat."""
        token = agent.context.token.encode()
        found = (path for pattern in self.transcripts for path in agent.leftovers.files(pattern))
        room = LARGEST
        for path in islice(found, MOST_TRANSCRIPTS):
            data = read_regular(path)
            if data is not None and len(data) < room:
                room -= len(data)
                name = str(path.relative_to(agent.leftovers.home)).replace("/", "_").lstrip(".")
                kept = harness_dir / name[-LONGEST_NAME:]
                kept.write_bytes(data.replace(token, b"*" * len(token)))

    @cached_property
    def runtime(self) -> Runtime:
        named = self.name if self.version == self.tried[0] else f"{self.name}@{self.version}"
        return find_runtime(named, self.parts(), cache_directory())

    @property
    def content_hash(self) -> str | None:
        """Of the installed part that the harness is named for; None where it is one of our own."""
        parts = self.parts()
        return self.runtime[parts[0].name].content_hash if parts else None

    def _notices(self, context: RunContext) -> list[str]:
        asked = asked_settings(context)
        notices = [
            f"{self.name} has no setting for the {setting.value}: {value} was not passed on"
            for setting, value in asked.items()
            if setting not in self.settings
        ]
        if Setting.TEMPERATURE in self.settings and _thinks_beside_temperature(context.model):
            notices.append("Anthropic's API takes no temperature beside thinking: none was sent")
        if self.version not in self.tried:
            notices.append(
                f"{self.name} {self.version} has not been tried with this adapter (tried: "
                f"{', '.join(self.tried)}); `clawbench harness check {self.name}@{self.version}` tells"
            )
        return notices


def check_api(harness: object, model: Model) -> None:
    """Refuse a model that the harness cannot speak to; one that does not say what it speaks is believed."""
    apis: Sequence[ApiType] = getattr(harness, "apis", None) or tuple(ApiType)
    if model.api_type not in apis:
        raise InputError(
            f"harness {getattr(harness, 'name', '')!r} cannot speak {model.api_type.value}",
            field=f"{model.name}.api_type",
            remedy=f"Use an endpoint with {' or '.join(api.value for api in apis)}, or another harness",
        )


def _thinks_beside_temperature(model: Model) -> bool:
    thinks = model.thinking_level not in (None, ThinkingLevel.OFF)
    return thinks and model.temperature is not None and model.api_type is ApiType.ANTHROPIC_MESSAGES


def asked_settings(context: RunContext) -> dict[Setting, object]:
    """What this run asks for, as far as it asks."""
    model = context.model
    values: dict[Setting, object] = {
        Setting.THINKING: model.thinking_level and model.thinking_level.value,
        Setting.TEMPERATURE: model.temperature,
        Setting.MAX_TOKENS: model.max_tokens,
        Setting.TURNS: context.max_turns,
        Setting.COMMAND_TIME: f"{SHELL_TIMEOUT_S} s" if context.kind == "coding" else None,
    }
    return {setting: value for setting, value in values.items() if value is not None}


def gateway_url(context: RunContext) -> str:
    """Without the `/v1` that OpenAI's clients want in it."""
    return f"http://127.0.0.1:{context.listen[GATEWAY]}"


def browser_url(context: RunContext) -> str:
    return f"http://127.0.0.1:{context.listen[CDP]}"


def write_home(context: RunContext, name: str, content: str) -> str:
    """Write a file into HOME; returns its path as the sandbox has it."""
    path = context.sandbox.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return f"{context.home}/{name}"


def model_id(model: Model) -> str:
    """The model's name, or what Google's clients can make a path of. The gateway writes the name itself into
    every request."""
    if model.api_type is not ApiType.GOOGLE:
        return model.upstream_name
    return re.sub(r"[^A-Za-z0-9._-]", "-", model.upstream_name)


def _command(context: RunContext, launch: Launch, left: Leftovers) -> Command:
    return Command(
        argv=launch.argv,
        env=launch.env,
        cwd=launch.cwd or context.workspace,
        stdout=left.stdout,
        stderr=left.stderr,
        listen=context.listen,
        limits=context.limits,
    )


def _check_arguments(launch: Launch, name: str) -> None:
    longest = max((len(argument.encode()) for argument in launch.argv), default=0)
    if longest > LONGEST_ARGUMENT:
        raise InputError(
            f"the prompt has {longest} bytes; {name} takes it as one argument, of at most {LONGEST_ARGUMENT}",
            remedy="Shorten the task, or use a harness that reads its prompt from a file",
        )
