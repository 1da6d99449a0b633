from __future__ import annotations

from pathlib import Path

import pytest

from clawbench.cli.viewing import listen_address, view_settings
from clawbench.errors import InputError
from tests.cli.command import clawbench

WEB, CODING = "002-shopping-order-teahouse", "001-coding-bugfix-strata"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("0.0.0.0", ("0.0.0.0", 6080)),
        ("localhost:7000", ("localhost", 7000)),
        ("::1", ("::1", 6080)),
        ("[::1]:7000", ("::1", 7000)),
        ("[::1]", ("::1", 6080)),
    ],
)
def test_addresses(given: str, meant: tuple[str, int]) -> None:
    assert listen_address(given) == meant


@pytest.mark.parametrize("given", ["", ":7000", "host:port", "host:70000"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="not an address"):
        listen_address(given)


def test_a_view_is_bound_to_loopback_unless_asked_otherwise() -> None:
    settings = view_settings(human=True, watch=False, listen=None)
    assert settings is not None
    assert (settings.mode, settings.host, settings.port, settings.grace_s) == (
        "control",
        "127.0.0.1",
        6080,
        15.0,
    )
    assert view_settings(human=False, watch=False, listen=None) is None


def test_a_view_needs_somebody_who_looks_and_only_one_kind_of_them() -> None:
    with pytest.raises(InputError, match="--watch: cannot be given with --human"):
        view_settings(human=True, watch=True, listen=None)
    with pytest.raises(InputError, match="--listen: is the address of a live view"):
        view_settings(human=False, watch=False, listen="0.0.0.0")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([WEB, "--human", "--model", "x"], "--model: cannot be given with --human"),
        ([WEB], "--model: is missing. Name a model, or give --human"),
        ([CODING, "--watch", "--model", "scripted:solve"], "a coding task has no screen"),
        ([WEB, "--human", "--listen", "203.0.113.7"], "--listen: 203.0.113.7 cannot be listened on"),
        ([WEB, "--model", "scripted:solve", "--no-eval"], "--no-eval: is for coding tasks"),
        ([WEB, "--model", "scripted:solve", "--future", "keep"], "--future: is for coding tasks"),
        ([CODING, "--model", "scripted:solve", "--max-batch-cost", "1"], "--max-batch-cost: has no meaning"),
        ([CODING, "--model", "scripted:solve", "--sandbox", "x"], "no sandbox called 'x'"),
        ([CODING, "--model", "scripted:solve", "--workers", "3"], "--workers: has no meaning for one task"),
        (["--suite", "demo", "--model", "scripted:solve", "--mirror", "."], "--mirror: is for the rows"),
        *(
            ([WEB, "--human", option, value], f"{option}: cannot be given with --human")
            for option, value in {
                **{"--idle": "900", "--memory": "4096", "--max-calls": "3", "--max-cost": "0"},
                **{"--max-tokens": "5", "--max-turns": "1", "--models": "m.yaml", "--rootfs": "/"},
            }.items()
        ),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_starts(
    words: list[str], says: str, tmp_path: Path
) -> None:
    finished = clawbench("run", *words, "--output", str(tmp_path / "runs"))
    assert finished.returncode == 2
    assert says in " ".join(finished.stderr.split())
    assert not (tmp_path / "runs").exists()
