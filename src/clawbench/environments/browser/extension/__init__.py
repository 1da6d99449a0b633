"""The recording extension: its own files, and the recorder's script, which is the one of every web run."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import clawbench
from clawbench.environments.browser.recorder import BINDING
from clawbench.environments.browser.recorder.recorder import injected_script
from clawbench.environments.browser.recorder.shadow import STATE

OWN = (".js", ".json", ".html")
MANIFEST = "manifest.json"
RECORDER = "recorder.js"


def write_extension(directory: Path) -> Path:
    """Put the extension together in `directory`, for Chrome to load; files that are right are left alone."""
    files = _files()
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = directory / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in directory.iterdir():
        if path.name not in files and path.is_file():
            path.unlink()
    return directory


def _files() -> dict[str, str]:
    own = (file for file in resources.files(__package__).iterdir() if file.name.endswith(OWN))
    files = {file.name: file.read_text(encoding="utf-8") for file in own}
    manifest = json.loads(files[MANIFEST]) | {"version": clawbench.__version__}
    return files | {MANIFEST: json.dumps(manifest, indent=2) + "\n", RECORDER: _recorder()}


def _recorder() -> str:
    """recorder.js as a content script: content.js, loaded before it, is told what it reports.

    To ask for a closed shadow root costs nothing here, so it is asked for every time.
    """
    binding, state = json.dumps(BINDING), json.dumps(STATE)
    return (
        f"globalThis[{binding}] = (text) => clawbenchReport(globalThis[{state}], text);\n"
        f"globalThis.clawbenchDisarm = () => globalThis[{state}]?.disarm();\n"
        f"{injected_script(probeAgainMs=0)};\n"
    )
