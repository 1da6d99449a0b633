"""The browser's cache works as in any browser, and is kept in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

CONTENT = b"y" * 50_000
LASTING = ("200 OK", {"Content-Type": "text/plain", "Cache-Control": "max-age=3600"}, CONTENT)
READ = "fetch('/lasting').then(answer => answer.text()).then(text => text.length)"


async def test_what_may_be_kept_is_asked_for_once_and_never_on_the_disk(
    open_session: Any, until: Any, tmp_path: Path
) -> None:
    async with open_session({}) as one:
        one.site.pages["/lasting"] = LASTING
        agent = await one.page_client()
        await agent.go("http://shop.example/")
        assert [await agent.run(READ) for _ in range(2)] == [50_000, 50_000]
        await until(lambda: len(lasting(one)) == 2)
        kept = [path for path in tmp_path.rglob("*") if path.is_file() and CONTENT in path.read_bytes()]
        await one.session.stop("agent_exited")
    assert [line["served_from"] for line in lasting(one)] == ["network", "disk_cache"]
    assert not kept


def lasting(one: Any) -> list[dict[str, Any]]:
    return [line for line in one.requests() if line["url"].endswith("/lasting")]
