"""Builds the test program of one file in tests/ with our reporting, against the crate that cargo built.

Cargo is not asked about tests: its manifest belongs to the tested code and could name another file.
Started with `-I -B`, so it must not import anything but the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REPORTING = "clawbench_reporting"
UNSTABLE = {**os.environ, "RUSTC_BOOTSTRAP": "1"}


def edition(manifest: Path) -> str:
    found = re.search(r'(?m)^\s*edition\s*=\s*"(\d{4})"', manifest.read_text(errors="replace"))
    return found[1] if found else "2015"


def build_reporting(program: Path, output: Path) -> Path:
    library = output / f"lib{REPORTING}.rlib"
    options = ["--edition", "2021", "--crate-type", "rlib", "--crate-name", REPORTING, "-o", str(library)]
    subprocess.run(["rustc", *options, str(program)], check=True, env=UNSTABLE)
    return library


def crates(target: Path) -> list[str]:
    built = sorted((target / "debug").glob("lib*.rlib"))
    return [option for path in built for option in ("--extern", f"{path.stem[3:]}={path}")]


def main(root: Path, target: Path, output: Path, file: str) -> None:
    output.mkdir(parents=True, exist_ok=True)
    reporting = build_reporting(Path(__file__).with_name("rust_program.rs"), output)
    attributes = ("feature(custom_test_frameworks)", f"test_runner({REPORTING}::run)")
    command = ["rustc", "--test", "--edition", edition(root / "Cargo.toml"), "--cap-lints", "warn"]
    command += [f"-Zcrate-attr={attribute}" for attribute in attributes]
    command += ["--extern", f"{REPORTING}={reporting}", *crates(target)]
    command += ["-L", f"dependency={target}/debug/deps", "-o", str(output / "tests"), str(root / file)]
    done = subprocess.run(command, check=False, env={**UNSTABLE, "CARGO_MANIFEST_DIR": str(root)})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
