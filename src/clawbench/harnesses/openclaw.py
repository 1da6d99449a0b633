"""OpenClaw, by `openclaw agent exec`: one turn of its agent without a gateway of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clawbench.harnesses.evidence import Evidence, Outcome
from clawbench.harnesses.leftovers import Leftovers, count, short
from clawbench.harnesses.npm_programs import ANSWER_TOKENS, CONTEXT_WINDOW
from clawbench.harnesses.program import (
    Launch,
    ProgramHarness,
    Setting,
    browser_url,
    gateway_url,
    model_id,
    write_home,
)
from clawbench.harnesses.protocol import RunContext
from clawbench.harnesses.read_only_shell import mount_check
from clawbench.harnesses.rehearsal import Edit, Forbidden, Line, Press
from clawbench.harnesses.runtimes import NODE, NpmPart, Part, Runtime
from clawbench.harnesses.tool_policy import READ_ONLY_COMMANDS, SHELL_TIMEOUT_S
from clawbench.models import ApiType, ThinkingLevel
from clawbench.results import Usage
from clawbench.tasks.prompts import MY_INFO

_BASE = {
    ApiType.OPENAI_COMPLETIONS: "/v1",
    ApiType.OPENAI_RESPONSES: "/v1",
    ApiType.ANTHROPIC_MESSAGES: "",
    ApiType.GOOGLE: "/v1beta",
}
_STATE = ".openclaw"
_NAMES = """\
const dns = require('node:dns'), {isIP} = require('node:net');
const found = {address: '192.0.2.1', family: 4}, asked = dns.lookup, promised = dns.promises.lookup;
const here = host => !host || isIP(host) || host === 'localhost';
dns.lookup = (host, options, done = options) => here(host) ? asked(host, options, done)
  : process.nextTick(done, null, options.all ? [found] : found.address, found.family);
dns.promises.lookup = async (host, options = {}) => here(host) ? promised(host, options)
  : options.all ? [found] : found;
require('node:module').syncBuiltinESMExports();
"""
"""Before the browser opens an address it looks up the name there; names are known only to the browser."""
_SHELL = """\
const {check, allowed} = %s, command = process.argv.at(-1);
const reason = require(check).refusal(command, allowed);
if (reason !== null) {
  console.error(`Refused: ${reason}`);
  process.exit(126);
}
process.exit(require('child_process').spawnSync('/bin/sh', ['-c', command], {stdio: 'inherit'}).status ?? 1);
"""
_EFFORTS = [level.value for level in ThinkingLevel if level is not ThinkingLevel.OFF]
_CODING_TOOLS = ["read", "write", "edit", "apply_patch", "exec", "process", "ls", "find", "grep"]
_WEB_TOOLS = ["browser", "read", "exec"]


class OpenClawHarness(ProgramHarness):
    name = "openclaw"
    summary = "OpenClaw's own agent, with its own browser tool"
    kinds = frozenset({"web", "coding"})
    tried = ("2026.9.6",)
    apis = tuple(_BASE)
    settings = frozenset({Setting.THINKING, Setting.TEMPERATURE, Setting.MAX_TOKENS, Setting.COMMAND_TIME})
    transcripts = (f"{_STATE}/agents/main/agent/openclaw-agent.sqlite*",)

    def parts(self, kind: str | None = None) -> Sequence[Part]:
        return (NpmPart(self.name, "openclaw", str(self.version), has_install_script=True), NODE)

    def configure(self, context: RunContext, runtime: Runtime, prompt: str) -> Launch:
        config = write_home(context, f"{_STATE}/openclaw.json", json.dumps(_config(context)))
        prompt_file = write_home(context, "prompt.txt", prompt)
        program = runtime[self.name].path("node_modules/openclaw/openclaw.mjs")
        thinking = context.model.thinking_level or ThinkingLevel.OFF
        options = ["agent", "exec", "--message-file", prompt_file, "--json", "--code-mode", "direct"]
        options += ["--config", config, "--state-dir", f"{context.home}/{_STATE}"]
        options += ["--cwd", context.workspace, "--thinking", thinking.value]
        options += ["--model", f"gateway/{_model_id(context)}"]
        options += ["--timeout", str(max(1, round(context.time_limit_s)))]
        env = {"OPENCLAW_STATE_DIR": f"{context.home}/{_STATE}", "OPENCLAW_CONFIG_PATH": config, **_QUIET}
        node = [runtime.node]
        if context.kind == "web":
            node += ["--require", write_home(context, f"{_STATE}/names.cjs", _NAMES)]
            env["SHELL"] = _reading_shell(context, runtime)
            _offer_uploads(context)
        return Launch([*node, program, *options], env)

    def examine(self, leftovers: Leftovers) -> Evidence:
        try:
            result = json.loads(leftovers.text())
        except (ValueError, RecursionError):
            result = None
        if not isinstance(result, dict):
            return Evidence(detail=short(leftovers.errors().strip()[-2000:]))
        tools = result.get("toolSummary")
        return Evidence(
            outcome=_outcome(result),
            answer=short(result.get("final")),
            tool_calls=count(tools.get("calls")) if isinstance(tools, dict) else 0,
            turns=count(result.get("assistantTurns")),
            usage=_usage(result.get("usage")),
            detail=_message(result.get("error")),
        )

    def edits(self, edit: Edit) -> Sequence[Line]:
        return (
            Line(tool="exec", arguments={"command": edit.command}),
            Line(text="The line is changed."),
        )

    def presses(self, press: Press) -> Sequence[Line]:
        return (
            Line(tool="browser", arguments={"action": "open", "url": press.url}),
            Line(tool="browser", arguments={"action": "snapshot"}),
            Line(
                tool="browser",
                arguments={"action": "act", "kind": "click", "ref": "${ref}"},
                after=rf'button \\*"{press.label}\\*"[^\n]*?\[ref=(?P<ref>\w+)\]',
            ),
            Line(text="The button is pressed."),
        )

    def forbidden(self, kind: str) -> Forbidden:
        line = Line(tool="web_fetch", arguments={"url": "http://example.org/"})
        return Forbidden(line, "not found|not available|[Uu]nknown tool")

    def keeps_busy(self, kind: str) -> Line:
        return Line(tool="exec", arguments={"command": "ls"})


_QUIET = {"OPENCLAW_NO_AUTO_UPDATE": "1", "OPENCLAW_NO_RESPAWN": "1", "OPENCLAW_DISABLE_BONJOUR": "1"}


def _model_id(context: RunContext) -> str:
    """What follows an `@` it takes for an account. The gateway writes the model's name into every request."""
    return model_id(context.model).replace("@", "-")


def _config(context: RunContext) -> dict[str, Any]:
    model = f"gateway/{_model_id(context)}"
    defaults: dict[str, Any] = {"model": {"primary": model}, "skipBootstrap": True}
    if context.model.temperature is not None:
        defaults["models"] = {model: {"params": {"temperature": context.model.temperature}}}
    web = context.kind == "web"
    return {
        "models": {"mode": "replace", "providers": {"gateway": _provider(context)}},
        "agents": {"defaults": defaults},
        "tools": {
            "profile": "full" if web else "coding",
            "allow": _WEB_TOOLS if web else _CODING_TOOLS,
            "toolSearch": False,
            "fs": {"workspaceOnly": False},
            "exec": {"timeoutSeconds": SHELL_TIMEOUT_S},
        },
        "plugins": {"allow": ["browser"], "slots": {"memory": "none"}} if web else {"enabled": False},
        "session": {"maintenance": {"mode": "warn"}},  # nothing is old enough, and looking takes seconds
        "update": {"checkOnStart": False},
        "telemetry": {"enabled": False},
        "gateway": {"mode": "local", "auth": {"mode": "token", "token": context.token}},
        "browser": _browser(context) if web else {"enabled": False},
    }


def _provider(context: RunContext) -> dict[str, Any]:
    model = context.model
    entry = {
        "id": _model_id(context),
        "name": model.upstream_name,
        "reasoning": model.thinking_level not in (None, ThinkingLevel.OFF),
        "input": ["text", "image"] if context.kind == "web" else ["text"],
        "contextWindow": CONTEXT_WINDOW,
        "maxTokens": model.max_tokens or ANSWER_TOKENS,
        # Of a provider that it does not know it believes that there is no such thing.
        "compat": {"supportsReasoningEffort": True, "supportedReasoningEfforts": _EFFORTS},
    }
    return {
        "baseUrl": gateway_url(context) + _BASE[model.api_type],
        "apiKey": context.token,
        "api": model.api_type.value,
        "timeoutSeconds": 600,
        "models": [entry],
    }


def _browser(context: RunContext) -> dict[str, Any]:
    """Its browser tool on the run's browser, whose sites may have any address."""
    return {
        "enabled": True,
        "evaluateEnabled": False,
        "defaultProfile": "run",
        "attachOnly": True,
        "ssrfPolicy": {"dangerouslyAllowPrivateNetwork": True},
        "profiles": {"run": {"cdpUrl": browser_url(context), "attachOnly": True}},
    }


def _offer_uploads(context: RunContext) -> None:
    """Its browser takes files from directories of its own alone, one of which is for what others sent it."""
    received = context.sandbox.home / _STATE / "media" / "inbound"
    received.parent.mkdir(parents=True)
    received.symlink_to(context.sandbox.inside(MY_INFO))


def _reading_shell(context: RunContext, runtime: Runtime) -> str:
    """A shell for its tool that refuses commands which do more than read: it has no list of them itself."""
    known = {"check": mount_check(context), "allowed": READ_ONLY_COMMANDS}
    shell = write_home(context, f"{_STATE}/shell", f"#!{runtime.node}\n" + _SHELL % json.dumps(known))
    (context.sandbox.home / _STATE / "shell").chmod(0o755)
    return shell


def _outcome(result: dict[str, Any]) -> Outcome:
    match result.get("status"):
        case "ok":
            return Outcome.STOP
        case "timeout":
            return Outcome.TIME_LIMIT
    return Outcome.ERROR


def _message(error: object) -> str:
    return short(error.get("message")) if isinstance(error, dict) else ""


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(
        input=count(value.get("input")),
        cache_read=count(value.get("cacheRead")),
        cache_write=count(value.get("cacheWrite")),
        output=count(value.get("output")),
    )
