"""What every adapter of another's program writes and says, without the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import pytest
import yaml

from clawbench.errors import InputError, MissingPartError
from clawbench.harnesses import CDP, driven, get_harness, harness_names
from clawbench.harnesses.claude_code import ClaudeCodeHarness
from clawbench.harnesses.codex import CodexHarness
from clawbench.harnesses.evidence import finish_of
from clawbench.harnesses.leftovers import Leftovers
from clawbench.harnesses.npm_programs import reading
from clawbench.harnesses.openclaw import OpenClawHarness
from clawbench.harnesses.opencode import OpenCodeHarness, _answer_tokens, _thinking
from clawbench.harnesses.pi import _EXTENSION, PiHarness
from clawbench.harnesses.program import Launch, ProgramHarness, Setting, asked_settings
from clawbench.harnesses.rehearsal import Edit, Press
from clawbench.harnesses.runtimes import InstalledPart, Runtime
from clawbench.models import ApiType, Model, ThinkingLevel
from clawbench.results import FinishReason
from clawbench.runner import RunSpec
from clawbench.runner.checking.policy import never_stop, rehearse
from clawbench.runner.checking.tasks import web_task
from clawbench.sandbox import Ended

from .stage import run_context

pytestmark = pytest.mark.anyio

PROMPT = (
    "Change “colour” in `settings.txt`:\n\n  - to \"green\", not 'grey' or $HOME\n\\end {{x}} <y> --flag\n"
)
EDIT = Edit("/workspace/settings.txt", "colour = grey", "colour = green")
PRESS = Press("http://doorbell.example/", "Ring the bell")


def adapters() -> list[ProgramHarness]:
    found = (get_harness(name) for name in harness_names())
    return [harness for harness in found if isinstance(harness, ProgramHarness)]


def cases() -> list[Any]:
    found = ((one.name, kind, api) for one in adapters() for kind in sorted(one.kinds) for api in one.apis)
    return [pytest.param(*case, id="-".join(case)) for case in found]


COPIED = {
    "agent-browser": "node_modules/agent-browser/bin/agent-browser-linux-musl-x64",
    "pi": "node_modules/@mariozechner/pi-coding-agent/package.json",
}
"""Files of runtimes that a configuration needs a copy of."""


def pretended(harness: ProgramHarness, kind: str, directory: Path) -> Runtime:
    named = {part.name: part.version for part in harness.parts(kind)}
    for name in named:
        (directory / name / "source").mkdir(parents=True)
        copied = directory / name / COPIED.get(name, "source/program")
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text("{}")
    return Runtime({name: InstalledPart(directory / name, version, "") for name, version in named.items()})


ODD_NAME = "some/model:1 é😀@v'\"2"


def model(api: ApiType, **more: Any) -> Model:
    return Model(name=ODD_NAME, base_url="https://models.invalid/v1", api_type=api, **more)


async def configured(
    harness: ProgramHarness, kind: str, api: ApiType, tmp_path: Path, **more: Any
) -> tuple[Launch, dict[str, str]]:
    """How it is started, and what is in HOME then."""
    sockets = {CDP: tmp_path / "cdp.sock"} if kind == "web" else {}
    runtime = pretended(harness, kind, tmp_path / "cache")
    wanted = cast(Literal["web", "coding"], kind)
    async with run_context(
        tmp_path, wanted, sockets, provider="none", token="the-run-token", model=model(api), **more
    ) as context:
        launch = harness.configure(context, runtime, PROMPT)
        home = context.sandbox.home
        files = {str(path.relative_to(home)): path for path in home.rglob("*") if path.is_file()}
        return launch, {name: path.read_text(errors="replace") for name, path in files.items()}


def tells(text: str, wanted: str) -> bool:
    """Word for word, or as a string of JSON or YAML."""
    if wanted in text or json.dumps(wanted)[1:-1] in text or json.dumps(wanted, ensure_ascii=False) in text:
        return True
    try:
        return any(value == wanted for value in leaves(yaml.safe_load(text)))
    except yaml.YAMLError:
        return False


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


@pytest.mark.parametrize(("name", "kind", "api"), cases())
async def test_the_prompt_is_handed_on_word_for_word_and_no_token_shows(
    name: str, kind: str, api: ApiType, tmp_path: Path
) -> None:
    harness = get_harness(name)
    assert isinstance(harness, ProgramHarness)
    launch, files = await configured(harness, kind, api, tmp_path)
    assert any(tells(text, PROMPT) for text in (*launch.argv, *files.values()))
    assert not any("the-run-token" in argument for argument in launch.argv), "every process sees arguments"
    told = "\n".join((*launch.argv, *launch.env.values(), *files.values()))
    assert "models.invalid" not in told, "a harness knows the gateway, not the model's API"


@pytest.mark.parametrize("harness", adapters(), ids=lambda one: one.name)
async def test_another_api_is_refused_before_anything_starts(harness: ProgramHarness, tmp_path: Path) -> None:
    unspoken = [api for api in ApiType if api not in harness.apis]
    if not unspoken:
        pytest.skip(f"{harness.name} speaks everything")
    kind = cast(Literal["web", "coding"], min(harness.kinds))
    async with run_context(tmp_path, kind, {}, provider="none", model=model(unspoken[0])) as context:
        with pytest.raises(InputError, match=f"cannot speak {unspoken[0].value}"):
            await harness.open(context)


@pytest.mark.parametrize("harness", adapters(), ids=lambda one: one.name)
async def test_what_it_cannot_be_told_is_in_the_notices(harness: ProgramHarness, tmp_path: Path) -> None:
    asking = model(harness.apis[0], thinking_level=ThinkingLevel.HIGH, temperature=0.5, max_tokens=1000)
    kind = cast(Literal["web", "coding"], min(harness.kinds))
    async with run_context(tmp_path, kind, {}, provider="none", model=asking, max_turns=9) as context:
        agent = await harness.open(context)
        asked = asked_settings(context)
    assert set(Setting) - set(asked) <= ({Setting.COMMAND_TIME} if kind == "web" else set())
    for setting in asked:
        named = any(f"no setting for the {setting.value}" in notice for notice in agent.notices)
        assert named is (setting not in harness.settings), setting


@pytest.mark.parametrize("harness", adapters(), ids=lambda one: one.name)
def test_no_word_of_its_end_is_an_error_and_not_a_good_end(harness: ProgramHarness, tmp_path: Path) -> None:
    for content in ("", "{}\n[]\n", '{"type": "result"}\n', "\x00" * 100):
        for name in ("stdout.txt", "stderr.txt"):
            (tmp_path / name).write_text(content)
        left = Leftovers(tmp_path, tmp_path / "stdout.txt", tmp_path / "stderr.txt", None)
        for code in (0, 1, -9):
            reason = finish_of(harness.examine(left), Ended(code)).finish_reason
            assert reason is not FinishReason.STOP, (content, code)
            assert reason is FinishReason.ERROR or content or code == 0


@pytest.mark.parametrize("harness", adapters(), ids=lambda one: one.name)
def test_it_can_be_rehearsed(harness: ProgramHarness) -> None:
    if not getattr(harness, "asks_model", True):
        pytest.skip("asks no model")
    for kind in harness.kinds:
        lines = harness.edits(EDIT) if kind == "coding" else harness.presses(PRESS)
        forbidden = harness.forbidden(kind)
        assert rehearse(lines, forbidden.line if forbidden else None)["rules"]
        assert never_stop(harness.keeps_busy(kind))["rules"]


async def test_a_version_that_was_not_tried_is_in_the_notices(tmp_path: Path) -> None:
    harness = get_harness("claude-code@9.9.9")
    assert isinstance(harness, ProgramHarness)
    assert [part.version for part in harness.parts() if part.name == "claude-code"] == ["9.9.9"]
    async with run_context(tmp_path, "coding", {}, provider="none", model=model(harness.apis[0])) as context:
        agent = await harness.open(context)
    (notice,) = agent.notices
    assert "9.9.9 has not been tried" in notice


async def test_odd_names_of_models_survive_the_configuration(tmp_path: Path) -> None:
    _, files = await configured(CodexHarness(), "coding", ApiType.OPENAI_RESPONSES, tmp_path)
    assert tomllib.loads(files[".codex/config.toml"])["model"] == ODD_NAME


async def test_openclaw_sees_no_account_in_a_model_name_and_is_told_of_thinking(tmp_path: Path) -> None:
    launch, files = await configured(OpenClawHarness(), "coding", ApiType.OPENAI_COMPLETIONS, tmp_path)
    named = launch_option(launch, "--model")
    (entry,) = json.loads(files[".openclaw/openclaw.json"])["models"]["providers"]["gateway"]["models"]
    assert named == f"gateway/{entry['id']}"
    assert "@" not in named
    assert entry["compat"]["supportsReasoningEffort"]


async def test_settings_of_the_repository_are_not_those_of_the_program(tmp_path: Path) -> None:
    for name in ("claude", "pi"):
        (tmp_path / name).mkdir()
    claude, _ = await configured(
        ClaudeCodeHarness(), "coding", ApiType.ANTHROPIC_MESSAGES, tmp_path / "claude"
    )
    assert launch_option(claude, "--setting-sources") == "user"
    pi, files = await configured(PiHarness(), "coding", ApiType.OPENAI_COMPLETIONS, tmp_path / "pi")
    assert pi.env["PI_PACKAGE_DIR"].endswith("/.pi/package")
    assert json.loads(files[".pi/package/package.json"])["piConfig"]["configDir"] != ".pi"


def launch_option(launch: Launch, option: str) -> str:
    return launch.argv[list(launch.argv).index(option) + 1]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_run_with_another_api_is_not_even_begun(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot speak google-generative-ai"):
        RunSpec(
            task=web_task(tmp_path),
            model=model(ApiType.GOOGLE),
            harness=get_harness(name),
            output=tmp_path,
            batch="b",
        )


def test_a_prompt_file_may_have_an_odd_path(tmp_path: Path) -> None:
    prompt = tmp_path / "a b'c $(d).txt"
    prompt.write_bytes(PROMPT.encode())
    assert subprocess.check_output(reading(str(prompt), ["cat"])) == PROMPT.encode()


@pytest.mark.parametrize("driver", ["browser_use", "generic", "hermes", "nanobot"])
def test_drivers_do_not_change_line_ends(driver: str) -> None:
    """GitHub's issues have `\\r\\n`, which reading a file as text would make `\\n` of."""
    text = (Path(driven.__file__).parent / "drivers" / f"{driver}.py").read_text(encoding="utf-8")
    assert re.search(r"""Path\(settings\["prompt"\]\)\.read_bytes\(\)""", text, re.IGNORECASE)


@pytest.mark.parametrize(
    "harness", [OpenClawHarness(), OpenCodeHarness(), PiHarness()], ids=lambda one: one.name
)
async def test_google_clients_can_make_a_path_of_a_name(harness: ProgramHarness, tmp_path: Path) -> None:
    launch, _ = await configured(harness, "coding", ApiType.GOOGLE, tmp_path)
    named = launch_option(launch, "--model").removeprefix("gateway/")
    assert re.fullmatch(r"some-model-1[\w.-]+", named, re.ASCII)


def test_pi_sends_no_temperature_beside_anthropics_thinking() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    limits = {"temperature": 0.3, "google": False, "turns": None, "shellSeconds": 180}
    extension = (_EXTENSION % json.dumps(limits)).replace("export default function", "function extension")
    asked = """
      const kinds = [{type: "enabled"}, {type: "adaptive"}, {type: "disabled"}, undefined];
      const acts = {};
      extension({on: (event, act) => { acts[event] = act; }});
      for (const thinking of kinds)
        console.log(acts.before_provider_request({payload: {thinking}})?.temperature ?? "left");
    """
    said = subprocess.check_output([node, "-e", extension + asked])
    assert said.decode().split() == ["left", "left", "0.3", "0.3"]


@pytest.mark.parametrize("most", [None, 2048, 20_000])
def test_opencode_asks_for_no_more_tokens_than_it_may(most: int | None) -> None:
    asked = model(ApiType.ANTHROPIC_MESSAGES, thinking_level=ThinkingLevel.HIGH, max_tokens=most)
    budget = _thinking(asked)["thinking"]["budgetTokens"]
    assert budget >= 1024, "Anthropic takes no less"
    assert most is None or budget + _answer_tokens(asked) == most


def test_a_version_that_is_missing_is_the_one_to_install() -> None:
    with pytest.raises(MissingPartError, match=r"harness install codex@99\.0\.0`"):
        _ = CodexHarness("99.0.0").runtime


async def test_a_temperature_that_thinking_rules_out_is_in_the_notices(tmp_path: Path) -> None:
    asking = {"thinking_level": ThinkingLevel.HIGH, "temperature": 0.5}
    for api, told in ((ApiType.ANTHROPIC_MESSAGES, True), (ApiType.OPENAI_COMPLETIONS, False)):
        directory = tmp_path / api.value
        directory.mkdir()
        async with run_context(
            directory, "coding", {}, provider="none", model=model(api, **asking)
        ) as context:
            agent = await PiHarness().open(context)
        assert any("no temperature beside thinking" in notice for notice in agent.notices) is told


async def test_plugins_of_a_repository_are_covered_from_opencode(tmp_path: Path) -> None:
    harness = OpenCodeHarness()
    runtime = pretended(harness, "coding", tmp_path / "cache")
    asking = model(ApiType.OPENAI_COMPLETIONS)
    async with run_context(tmp_path, "coding", {}, provider="none", model=asking) as context:
        harness.configure(context, runtime, PROMPT)
        shown = Path(context.sandbox.inside(f"{context.workspace}/.opencode"))
        assert shown.is_dir()
        assert not list(shown.iterdir())
