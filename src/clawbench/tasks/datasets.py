"""Where rows come from: a file, or a Hugging Face dataset, which is fetched once and kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from clawbench.errors import InputError
from clawbench.extras import extra_line
from clawbench.given import usable_path
from clawbench.tasks.rows import FORMS, PARQUET, Row, read_rows

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def load_rows(datasets: Sequence[str], cache: Path, split: str = "test") -> dict[str, Row]:
    """The rows of all the datasets; where two have an instance, the first counts."""
    rows: dict[str, Row] = {}
    for name in datasets:
        for file in _files(name, cache, split):
            rows |= {name: row for name, row in read_rows(file).items() if name not in rows}
    return rows


def _files(name: str, cache: Path, split: str) -> list[Path]:
    with usable_path(name, FORMS, "--dataset"):
        path = Path(name).expanduser()
        files = sorted(path.iterdir()) if path.is_dir() else []
        found = [file for file in files if file.suffix in (".json", ".jsonl", PARQUET)]
        is_file = path.exists() or not _HUB_NAME.fullmatch(name)
    return found or ([path] if is_file else _fetched(name, cache, split))


def _fetched(name: str, cache: Path, split: str) -> list[Path]:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise InputError(
            f"no file {name!r}, and datasets of Hugging Face need an extra",
            field="--dataset",
            remedy=f"Install it with `{extra_line('hf')}`, or give a JSONL or Parquet file",
        ) from None
    patterns = [f"*{split}*{suffix}" for suffix in (PARQUET, ".jsonl", ".json")]
    target = cache / "datasets" / name.replace("/", "__")
    try:
        snapshot_download(name, repo_type="dataset", allow_patterns=patterns, local_dir=target)
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        if not target.is_dir():
            raise InputError(
                f"{name} cannot be fetched ({str(error).splitlines()[0]})",
                field="--dataset",
                remedy="Check the name and the connection, or give a local file",
            ) from None
    found = sorted(file for file in target.rglob(f"*{split}*") if file.suffix in (PARQUET, ".jsonl", ".json"))
    if not found:
        raise InputError(
            f"{name} has no file of split {split!r}", field="--dataset", remedy="Give a local file"
        )
    return found
