"""Writing files so that a reader never sees half of one, and a crash loses no finished line."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from clawbench.errors import InputError


def write_atomic(path: Path, data: str | bytes) -> None:
    """Replace `path` with `data`: readers see the old file or the new one, never a part."""
    with _replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def rewrite_lines(path: Path, changed: Callable[[int, bytes], bytes]) -> None:
    """Replace every line, told by its number from 0 on, by what `changed` makes of it; all or nothing."""
    with path.open("rb") as lines, _replacing(path) as file:
        file.writelines(changed(number, line) for number, line in enumerate(lines))


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, json_document(value))


def json_document(value: Any) -> str:
    """A value as it stands in its file, whatever somebody said in it."""
    return _whole(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def record_text(record: BaseModel) -> str:
    """A record as it stands in its file, whatever somebody said in it."""
    try:
        return record.model_dump_json(indent=2) + "\n"
    except PydanticSerializationError:
        return json_document(record.model_dump(mode="json"))


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which UTF-8 cannot write and strict readers refuse as escapes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_readable = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _line(value: Any) -> bytes:
    """A line to be read; what UTF-8 has no bytes for is written as an escape, so that nothing is lost."""
    try:
        return _readable.encode(value).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class JsonLines:
    """An append-only JSONL file of one writer; a line is in it when `append` returns, or nothing of it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.size = os.fstat(self._fd).st_size

    def append(self, value: Any) -> None:
        self.extend((value,))

    def extend(self, values: Iterable[Any]) -> None:
        """Several lines in one go: all of them are in the file then, or none."""
        data = b"".join(map(_line, values))
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, memoryview(data)[written:])
        except OSError:
            os.ftruncate(self._fd, self.size)
            raise
        self.size += written

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def drop_cut_line(path: Path) -> None:
    """Remove a last line that a killed writer left without its end: the next would become a part of it."""
    with path.open("r+b") as file:
        end = 0
        for line in file:
            end += len(line) if line.endswith(b"\n") else 0
        file.truncate(end)


def read_json_lines(path: Path) -> Iterator[Any]:
    """Yield each object; a last line cut short by a crash is left out, any other bad line is an error."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                if not line.endswith(b"\n"):
                    return
                raise InputError(
                    f"line {number} is not JSON ({error})",
                    file=path,
                    remedy="Remove or repair that line",
                ) from None
