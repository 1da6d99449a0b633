from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.harnesses import get_harness, harness_names, registry
from clawbench.results import FinishReason

from .stage import run_context


def test_ours_are_known() -> None:
    assert {"null", "reference"} <= set(harness_names())
    for name in ("null", "reference"):
        harness = get_harness(name)
        assert harness.name == name
        assert harness.kinds == {"web", "coding"}
        assert harness.version
        assert harness.summary


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no harness is called 'nope'.*null.*reference"):
        get_harness("nope")


def test_a_package_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_package.harness:Harness", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [broken])
    with pytest.raises(InputError, match=r"'broken' cannot be loaded from no_such_package\.harness:Harness"):
        get_harness("broken")


@pytest.mark.anyio
async def test_null_does_nothing(tmp_path: Path) -> None:
    async with run_context(tmp_path, "web", {}, provider="none") as context:
        harness = get_harness("null")
        await harness.provision(context.sandbox)
        agent = await harness.open(context)
        result = await harness.perform(agent, "anything")
        claim = await harness.collect(agent, context.harness_dir)
        await harness.close(agent)
    assert result.finish_reason is FinishReason.EMPTY
    assert claim is not None
    assert claim.turns == 0
