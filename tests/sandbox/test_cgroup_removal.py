"""Control groups that cannot be removed are not waited for: containers show theirs read-only."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from clawbench.sandbox.leftovers import remove_cgroup

AN_HOUR = 3600


@pytest.mark.timeout(20)
def test_only_a_busy_group_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    remove_cgroup(str(tmp_path), time.monotonic() + AN_HOUR)
    assert tmp_path.exists()
    remove_cgroup(str(tmp_path / "absent"), time.monotonic() + AN_HOUR)
