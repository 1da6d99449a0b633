"""A program built from its crate, with the lock that the crate was published with."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from clawbench.harnesses.runtimes.carrying import carry
from clawbench.harnesses.runtimes.parts import CargoPart
from clawbench.harnesses.runtimes.tooling import InstallError, Say, need_program, run_tool


def install_cargo(part: CargoPart, target: Path, say: Say) -> list[str]:
    cargo = need_program(
        "cargo", f"{part.name} is built from the crate {part.crate}", "Install Rust: https://rustup.rs"
    )
    say(f"building {part.crate} {part.version} with cargo; this takes many minutes")
    with tempfile.TemporaryDirectory(prefix=".cargo-", dir=target.parent) as temporary:
        words = ("install", "--locked", "--quiet", "--version", f"={part.version}", "--bin", part.binary)
        places = ("--root", temporary, "--target-dir", f"{temporary}/target", part.crate)
        run_tool(
            [cargo, *words, *places], "Is the version right, the registry reachable and Rust new enough?"
        )
        built = Path(temporary, "bin", part.binary)
        if not built.is_file():
            raise InstallError(f"the crate {part.crate} has no program {part.binary!r}. Please report it")
        (target / "bin").mkdir()
        shutil.move(built, target / "bin" / part.binary)
    carry(target / "bin" / part.binary, ())
    run_tool([target / "bin" / part.binary, "--version"], "Please report it")
    return [f"{part.crate}=={part.version}"]
