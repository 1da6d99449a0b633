"""The generated tables of docs/harnesses.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from clawbench.harnesses import harness_names

ROOT = Path(__file__).parent.parent.parent
spec = importlib.util.spec_from_file_location("harness_docs", ROOT / "tools" / "harness_docs.py")
assert spec
assert spec.loader
harness_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(harness_docs)


def test_the_settings_are_those_of_the_adapters() -> None:
    """Else: `python tools/harness_docs.py`."""
    assert harness_docs.settings_table() in harness_docs.DOCS.read_text()


def test_the_matrix_says_what_was_found_and_why_not() -> None:
    details = {"stop": {"detail": "0.1 s"}, "claim": {"detail": "equal"}}
    fine = {
        "name": "a",
        "version": "1",
        "coding": "ok",
        "web": "ok",
        "details": {"coding": details, "web": details},
    }
    absent = {
        "name": "b",
        "version": "0" * 40,
        "coding": "skipped",
        "coding_reason": "not | there",
        "web": "skipped",
    }
    shown = harness_docs.matrix([fine, absent | {"web_reason": "b does no web tasks"}], "1 May 2026")
    assert "Checked on 1 May 2026." in shown
    assert "| `a` | 1 | ok; claim equal; gone after 0.1 s | ok; claim equal; gone after 0.1 s |" in shown
    assert "| `b` | 000000000000 | skipped: not / there | – |" in shown


def test_a_place_that_is_not_there_is_no_success() -> None:
    with pytest.raises(SystemExit, match="must have one place for matrix"):
        harness_docs.fill("nothing", "matrix", "")


def test_the_matrix_has_every_harness() -> None:
    """Else: `python tools/harness_docs.py --check`."""
    text = harness_docs.DOCS.read_text().partition("<!-- matrix")[2].partition("<!-- end of matrix")[0]
    if not text.partition("-->")[2].strip():
        pytest.skip("no matrix yet")
    assert [name for name in harness_names() if f"| `{name}` |" not in text] == []
