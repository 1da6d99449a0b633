"""Writing an MP4 file that plays at every moment of its life.

While recording, each frame is appended as a fragment of its own: a crash loses nothing that was appended.
`finish` then adds an ordinary index at the end and turns all fragments into the payload of one `mdat` box by
rewriting 16 bytes, so that every player can seek and knows the duration.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TRACK = 1
UNITY_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
KEY_SAMPLE, DEPENDENT_SAMPLE = 0x02000000, 0x01010000
DEFAULT_BASE_IS_MOOF = 0x020000
OFFSET_DURATION_SIZE_FLAGS = 0x000701
RESERVED = 16
"""Bytes kept free for the header of the final `mdat` box."""


@dataclass(frozen=True)
class Sample:
    """One encoded picture: where it is in the file and when it is shown, in ticks of the time scale."""

    time: int
    offset: int
    size: int
    key: bool


def box(kind: bytes, *parts: bytes) -> bytes:
    payload = b"".join(parts)
    return struct.pack(">I4s", 8 + len(payload), kind) + payload


def full_box(kind: bytes, version: int, flags: int, *parts: bytes) -> bytes:
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


class Mp4Writer:
    """One H.264 track. `tick` is the time scale's units per step of the grid, times are whole steps."""

    def __init__(self, path: Path, size: tuple[int, int], steps_per_second: int, tick: int = 1000) -> None:
        self._size, self._tick = size, tick
        self._timescale = steps_per_second * tick
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._end = 0
        self._payload = 0
        self._configuration = b""
        self.samples: list[Sample] = []

    def configure(self, configuration: bytes) -> None:
        """Begin the file with the decoder's configuration (`avcC`); the first one counts."""
        if self._configuration:
            return
        file_type = box(b"ftyp", b"isom", struct.pack(">I", 0x200), b"isomiso2iso5avc1mp41")
        self._payload = len(file_type)
        self._configuration = configuration
        self._write(file_type + box(b"free", bytes(RESERVED - 8)) + self._movie([], 0))

    def append(self, step: int, key: bool, data: bytes) -> None:
        """Add a picture shown from `step` on; it is in the file when this returns."""
        time = step * self._tick
        moof = self._fragment(time, key, len(data))
        sample = Sample(time, self._end + len(moof) + 8, len(data), key)
        self._write(moof + box(b"mdat", data))
        self.samples.append(sample)

    def finish(self, end_step: int) -> None:
        """Write the index; the last picture stays until `end_step`."""
        if self.samples:
            index = self._movie(self.samples, max(end_step * self._tick, self.samples[-1].time + 1))
            covered = self._end - self._payload
            self._write(index)
            os.fsync(self._fd)
            os.pwrite(self._fd, struct.pack(">I4sQ", 1, b"mdat", covered), self._payload)
        self.close()

    def close(self) -> None:
        """Leave the file as it is: fragments without an index."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, data: bytes) -> None:
        """All of `data` or, where the disk refuses, nothing of it."""
        view, position = memoryview(data), self._end
        try:
            while view:
                written = os.pwrite(self._fd, view, position)
                view, position = view[written:], position + written
        except OSError:
            os.ftruncate(self._fd, self._end)
            raise
        self._end = position

    def _fragment(self, time: int, key: bool, size: int) -> bytes:
        flags = KEY_SAMPLE if key else DEPENDENT_SAMPLE

        def moof(data_offset: int) -> bytes:
            run = struct.pack(">IiIII", 1, data_offset, self._tick, size, flags)
            track = box(
                b"traf",
                full_box(b"tfhd", 0, DEFAULT_BASE_IS_MOOF, struct.pack(">I", TRACK)),
                full_box(b"tfdt", 1, 0, struct.pack(">Q", time)),
                full_box(b"trun", 0, OFFSET_DURATION_SIZE_FLAGS, run),
            )
            return box(b"moof", full_box(b"mfhd", 0, 0, struct.pack(">I", len(self.samples) + 1)), track)

        return moof(len(moof(0)) + 8)

    def _movie(self, samples: list[Sample], duration: int) -> bytes:
        header = struct.pack(">QQIQ", 0, 0, self._timescale, duration)
        rest = struct.pack(">IH10x", 0x10000, 0x100) + UNITY_MATRIX + bytes(24) + struct.pack(">I", TRACK + 1)
        parts = [full_box(b"mvhd", 1, 0, header, rest), self._track(samples, duration)]
        if not samples:
            defaults = struct.pack(">5I", TRACK, 1, self._tick, 0, 0)
            parts.append(box(b"mvex", full_box(b"trex", 0, 0, defaults)))
        return box(b"moov", *parts)

    def _track(self, samples: list[Sample], duration: int) -> bytes:
        width, height = self._size
        times = struct.pack(">QQIIQ8xhhhh", 0, 0, TRACK, 0, duration, 0, 0, 0, 0)
        track_header = times + UNITY_MATRIX + struct.pack(">II", width << 16, height << 16)
        media_header = struct.pack(">QQIQHH", 0, 0, self._timescale, duration, 0x55C4, 0)
        media = box(
            b"minf",
            full_box(b"vmhd", 0, 1, bytes(8)),
            box(b"dinf", full_box(b"dref", 0, 0, struct.pack(">I", 1), full_box(b"url ", 0, 1))),
            box(b"stbl", self._description(), *sample_tables(samples, duration)),
        )
        return box(
            b"trak",
            full_box(b"tkhd", 1, 3, track_header),
            box(
                b"mdia",
                full_box(b"mdhd", 1, 0, media_header),
                full_box(b"hdlr", 0, 0, bytes(4), b"vide", bytes(12), b"Screen\0"),
                media,
            ),
        )

    def _description(self) -> bytes:
        width, height = self._size
        entry = struct.pack(">6xH16xHHIII", 1, width, height, 0x480000, 0x480000, 0)
        entry += struct.pack(">H32xHh", 1, 24, -1)
        return full_box(
            b"stsd", 0, 0, struct.pack(">I", 1), box(b"avc1", entry, box(b"avcC", self._configuration))
        )


def sample_tables(samples: list[Sample], duration: int) -> list[bytes]:
    """When, how long and where: one sample to a chunk, since fragments lie between them."""
    ends = [sample.time for sample in samples[1:]] + [duration]
    lengths = [end - sample.time for sample, end in zip(samples, ends, strict=False)]
    keys = [number for number, sample in enumerate(samples, 1) if sample.key]
    one_to_a_chunk = [(1, 1, 1)] if samples else []
    return [
        _table(b"stts", ">II", [(1, length) for length in lengths]),
        _table(b"stss", ">I", [(key,) for key in keys]),
        _table(b"stsc", ">III", one_to_a_chunk),
        full_box(
            b"stsz", 0, 0, struct.pack(f">II{len(samples)}I", 0, len(samples), *(s.size for s in samples))
        ),
        _table(b"co64", ">Q", [(sample.offset,) for sample in samples]),
    ]


def _table(kind: bytes, layout: str, rows: Sequence[tuple[int, ...]]) -> bytes:
    return full_box(kind, 0, 0, struct.pack(">I", len(rows)), *(struct.pack(layout, *row) for row in rows))
