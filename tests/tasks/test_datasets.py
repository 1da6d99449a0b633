"""Datasets in Parquet, and of a Hugging Face hub: a real client, and a small hub on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.tasks.datasets import load_rows
from tests.cli.command import clawbench
from tests.tasks.test_rows import ROW

SPLIT = "data/test-00000-of-00001.parquet"


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    arrow = pytest.importorskip("pyarrow", reason="the extra `hf` is not installed")
    tables = pytest.importorskip("pyarrow.parquet")
    rows = [{**ROW, "instance_id": f"django__django-{n}", "FAIL_TO_PASS": '["test_a (t.T)"]'} for n in (1, 2)]
    file = tmp_path / "rows.parquet"
    tables.write_table(arrow.Table.from_pylist(rows), file)
    return file


@pytest.fixture
def hub(parquet: Path) -> Iterator[ThreadingHTTPServer]:
    content = parquet.read_bytes()

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(b"", len(content))

        def do_GET(self) -> None:
            if "/resolve/" in self.path:
                self.answer(content, len(content))
            elif "/tree/" in self.path:
                listed = json.dumps([{"type": "file", "path": SPLIT, "size": len(content), "oid": "0" * 40}])
                self.answer(listed.encode(), len(listed))
            else:
                names = [{"rfilename": SPLIT}, {"rfilename": "README.md"}]
                info = json.dumps({"id": "owner/rows", "sha": "a" * 40, "siblings": names})
                self.answer(info.encode(), len(info))

        def answer(self, body: bytes, length: int) -> None:
            self.send_response(200)
            for name, value in {"X-Repo-Commit": "a" * 40, "ETag": '"one"'}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """A test prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_rows_in_parquet(parquet: Path, tmp_path: Path) -> None:
    assert sorted(load_rows([str(parquet)], tmp_path)) == ["django__django-1", "django__django-2"]


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `hf` is not installed")
    file = tmp_path / "rows.parquet"
    file.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"rows\.parquet: --dataset: is not Parquet"):
        load_rows([str(file)], tmp_path)


def test_a_dataset_of_a_hub_is_fetched_once_and_kept(hub: ThreadingHTTPServer, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="the extra `hf` is not installed")
    places = {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "CLAWBENCH_CACHE": str(tmp_path / "cache"),
    }
    listing = ("tasks", "list", "--dataset", "owner/rows", "--json")
    fetched = json.loads(clawbench(*listing, **places).stdout)
    assert [row["id"] for row in fetched] == ["django__django-1", "django__django-2"]
    hub.shutdown()
    assert json.loads(clawbench(*listing, **places, HF_HUB_OFFLINE="1").stdout) == fetched
